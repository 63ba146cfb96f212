"""Words are replaced so that nothing can be read and everything behaves the same."""

import itertools
import random
import string

import pytest

from ctxviewer.engine.cline.notices import CONTEXT_TRUNCATION, DUPLICATE_FILE_READ, FIRST_USER_MESSAGE
from ctxviewer.exports.disguise import Disguise
from ctxviewer.exports.secrets import Mask
from helpers.secret_shapes import SHAPES

KEY = b"a key"


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass"))


@pytest.mark.parametrize(
    "text",
    [
        "<task>", "</task>", "<environment_details>", '<file_content path="', '<final_file_content path="',
        "<read_file><path>", "[TASK RESUMPTION]", "[Response interrupted by user]", "[ERROR]",
        CONTEXT_TRUNCATION, DUPLICATE_FILE_READ, FIRST_USER_MESSAGE, "# Current Time\n", "ACT MODE",
        "# Context Window Usage\n48,213 / 200K tokens used (", '<explicit_instructions type="summarize_task"',
        "Failure: I did not provide a response",
    ],
)  # fmt: skip
def test_what_the_formats_give_a_meaning_to_stays(text):
    assert Disguise(KEY).text(text) == text


def test_headers_of_results_keep_their_form_and_lose_their_words():
    shown = Disguise(KEY).text("[read_file for 'src/secretplan.py'] Result:\nbody words")
    assert shown.startswith("[read_file for '")
    assert shown.split("'")[1].endswith(".py")
    assert "'] Result:\n" in shown
    assert not {"src", "secretplan", "body", "words"} & set(
        shown.replace("/", " ").replace(".", " ").replace("'", " ").split()
    )


def test_equal_words_stay_equal_and_lengths_stay():
    disguise = Disguise(KEY)
    text = "Alpha alpha ALPHA beta-alpha_beta 2024 Ünïcode 中文字 δοκιμή 😀 \ud83d x"
    shown = disguise.text(text)
    assert units(shown) == units(text)
    words = shown.split()
    assert words[0].lower() == words[1] == words[2].lower()
    assert words[0][0].isupper()
    assert words[2].isupper()
    assert words[3].split("-")[1].split("_")[0] == words[1]
    assert words[-3:-1] == ["😀", "\ud83d"]
    assert disguise.text(text) == shown
    assert Disguise(KEY).text(text) == shown
    assert Disguise(b"another").text(text) != shown


def test_another_letter_stays_in_its_script():
    shown = Disguise(KEY).text("日本語のテキスト кириллица עברית")
    assert all(ord(new) // 64 == ord(old) // 64 for old, new in zip("日本語のテキスト кириллица", shown, strict=False))


@pytest.mark.parametrize(
    ("length", "letters"),
    [
        (1, string.digits),
        (2, string.digits),
        (3, string.digits),
        (1, string.ascii_lowercase),
        (2, string.ascii_lowercase),
    ],
)
def test_different_words_stay_different_even_when_all_are_used(length, letters):
    disguise = Disguise(KEY)
    words = ["".join(signs) for signs in itertools.product(letters, repeat=length)]
    random.Random(1).shuffle(words)
    shown = [disguise.text(word) for word in words]
    assert len(set(shown)) == len(words)


def test_no_word_becomes_a_word_of_the_formats():
    disguise = Disguise(KEY)
    chance = random.Random(7)
    shown = {disguise.text("".join(chance.choices(string.ascii_lowercase, k=4))) for _ in range(6_000)}
    assert not shown & {"task", "file", "path", "note", "read", "text"}


def test_file_extensions_stay_and_other_words_behind_points_do_not():
    shown = Disguise(KEY).text("a/main.py b.tsx c.unknown obj.method x.pyx")
    assert shown.split()[0].endswith(".py")
    assert shown.split()[1].endswith(".tsx")
    assert "unknown" not in shown
    assert "method" not in shown
    assert not shown.endswith(".pyx")


@pytest.mark.parametrize("kind", SHAPES)
def test_secrets_are_blotted_out_with_their_length(kind):
    text, secret = SHAPES[kind](random.Random(kind))
    mask = Mask()
    shown = Disguise(KEY, mask).text(f"say {text} now")
    assert units(shown) == units(f"say {text} now")
    assert mask.count >= 1
    assert "xxxx" in shown
    assert all(piece not in shown for piece in secret.split("\n"))


def test_two_secrets_of_one_length_stay_different():
    chance = random.Random(1)
    first, second = (SHAPES["GitHub token"](chance)[0] for _ in range(2))
    shown = Disguise(KEY).text(f"{first} {second} {first}").split()
    assert shown[0] == shown[2] != shown[1]


def test_json_keeps_parameters_and_replaces_other_keys():
    shown = Disguise(KEY).json({"path": "src/a.py", "customername": ["x", 1, None, True], "content": {"n": 1.5}})
    assert [*shown][0::2] == ["path", "content"]
    assert "customername" not in shown
    assert [*shown.values()][1][1:] == [1, None, True]
    assert [*shown["content"].values()] == [1.5]


def test_names_of_tools_and_hashes():
    disguise = Disguise(KEY)
    assert disguise.name("read_file") == "read_file"
    assert disguise.name("acme_internal_tool") != "acme_internal_tool"
    assert len(disguise.hash("a" * 40)) == 40
    assert len(disguise.hash("a" * 100)) == 100
    assert disguise.hash("") == ""
    assert set(disguise.hash("a" * 40)) <= set(string.hexdigits)

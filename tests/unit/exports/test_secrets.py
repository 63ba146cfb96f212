"""What is masked and what is not, and how it is counted."""

import random

import pytest

from ctxviewer.exports.secrets import Mask, entropy, find_secrets, looks_random
from helpers.secret_shapes import SHAPES, made
from helpers.work import Work


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_every_known_shape_is_masked(kind, seed):
    text, secret = SHAPES[kind](random.Random(f"{kind}{seed}"))
    masked = Mask().text(f"before\n{text}\nafter")
    assert secret not in masked
    assert secret[:8] not in masked
    assert "[masked: " in masked
    assert masked.startswith("before\n")
    assert masked.endswith("\nafter") or kind == "private key"


@pytest.mark.parametrize(
    "text",
    [
        "token = 'o200k_base'",
        "max_tokens: 4096",
        "tokens: 123456789012345678",
        "password = getpass.getpass()",
        "password=user_password",
        "self.password = password",
        'password = "<your password>"',
        'password: "changeme"',
        "secret: ${SECRET}",
        "API_KEY=$API_KEY",
        'token = os.environ["TOKEN"]',
        "api_key: process.env.API_KEY",
        "task-runner-configuration-file-2024x",
        "https://registry.test:8080/@scope/package",
        "https://example.test/a:b/c",
        "mailto:user@example.test",
        "the secret of the forest is that it has none",
        "def reset_password(user: User) -> None:",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "const key = useMemo(() => `${id}-${name}`, [id, name]);",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert find_secrets(text) == ()
    assert Mask().text(text) == text


def test_equal_secrets_get_equal_marks_and_are_counted():
    chance = random.Random(1)
    first, second = SHAPES["GitHub token"](chance)[0], SHAPES["GitHub token"](chance)[0]
    mask = Mask()
    assert mask.text(f"{first} {second} {first}") == (
        "[masked: GitHub token 1] [masked: GitHub token 2] [masked: GitHub token 1]"
    )
    assert (mask.count, [(row.kind, row.places, row.different) for row in mask.kinds]) == (3, [("GitHub token", 3, 2)])
    assert mask.sentence == "3 places masked: GitHub token 3×."
    assert Mask().sentence == "No secret was found."


def test_keeping_changes_nothing_and_says_so():
    text = SHAPES["Anthropic key"](random.Random(1))[0]
    mask = Mask(keep=True)
    assert (mask.text(text), mask.json({"password": text})) == (text, {"password": text})
    assert mask.sentence == "Secrets were not looked for."


def test_json_is_masked_in_values_keys_and_by_the_names_of_keys():
    secret = SHAPES["GitHub token"](random.Random(1))[0]
    value = {
        "list": [secret, 1, None, True],
        secret: "x",
        "password": "swordfish",
        "token": "short",
        "n": {"apiKey": made(random.Random(2), 20)},
    }
    masked = Mask().json(value)
    assert masked["list"] == ["[masked: GitHub token 1]", 1, None, True]
    assert masked["[masked: GitHub token 1]"] == "x"
    assert masked["password"].startswith("[masked: assigned secret")
    assert masked["token"] == value["token"]
    assert masked["n"]["apiKey"].startswith("[masked: assigned secret")


def test_a_masked_text_is_not_masked_again():
    once = Mask().text("password = 'hunter2' API_KEY=abcd1234efgh5678")
    assert Mask().text(once) == once


def test_overlapping_shapes_become_one_mark():
    secret = SHAPES["Anthropic key"](random.Random(3))[0]
    assert Mask().text(f'Authorization: Bearer {secret} api_key="{secret}"').count("[masked") == 2


def test_randomness_is_told_from_words():
    assert looks_random(made(random.Random(4), 20))
    assert not looks_random("configuration2")
    assert not looks_random("aaaaaaaaaaaaaaaaaaa1")
    assert (entropy(""), entropy("aaaa"), entropy("ab")) == (0, 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "password" * 30_000,
        "token=" * 40_000,
        "://" * 60_000,
        "://a:" * 40_000,
        'password="' + "a" * 200_000,
        "secret " + " " * 200_000,
        "-----BEGIN " + "PRIVATE KEY-----" * 8_000,
        "aws" * 60_000,
        "a" * 300_000,
        "eyJ" * 60_000,
    ],
    ids=range(10),
)
def test_no_text_takes_long(text):
    with Work() as work:
        find_secrets(text)
    assert work.seconds < 8, "normally well below two seconds"

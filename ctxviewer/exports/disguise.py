"""Replaces words so that a text means nothing and still behaves the same: every word always by the same other word of
the same length, different words by different ones.

Lengths in UTF-16 units stay, since the agent's savings count them; equal paths stay equal and different ones different,
since duplicate reads are found by path. What the formats give a meaning to is kept: tags, headers of results, notices,
section headings, the size of the window. The same key gives the same words; without the key nobody can look up a word.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from ctxviewer.domain.json import Json
from ctxviewer.engine.cline.notices import CONTEXT_TRUNCATION, DUPLICATE_FILE_READ, FIRST_USER_MESSAGE
from ctxviewer.exports.secrets import Mask, find_secrets

TOOLS = frozenset(
    {
        "access_mcp_resource", "act_mode_respond", "apply_patch", "ask_followup_question", "attempt_completion",
        "browser_action", "condense", "execute_command", "generate_explanation", "list_code_definition_names",
        "list_files", "load_mcp_documentation", "new_rule", "new_task", "plan_mode_respond", "read_file",
        "replace_in_file", "report_bug", "search_files", "summarize_task", "use_mcp_tool", "use_skill",
        "use_subagents", "web_fetch", "web_search", "write_to_file",
    }
)  # fmt: skip
"""Names of the agent's tools, which are kept."""
PARAMETERS = frozenset(
    {
        "absolutePath", "action", "arguments", "command", "content", "context", "coordinate", "diff", "file_pattern",
        "file_path", "needs_more_exploration", "options", "path", "prompt", "question", "recursive", "regex",
        "requires_approval", "response", "result", "server_name", "size", "task_progress", "text", "thinking",
        "timeout", "tool_name", "uri", "url",
    }
)  # fmt: skip
"""Names of their parameters, which are kept as tags and as keys."""
TAGS = frozenset(
    {
        "environment_details", "error", "explicit_instructions", "feedback", "file_content", "final_file_content",
        "folder_content", "task", "user_message", "answer",
    }
)  # fmt: skip
_NAMES = "|".join(sorted(TOOLS | PARAMETERS | TAGS, key=len, reverse=True))
_KEPT = re.compile(
    "|".join(
        (
            re.escape(CONTEXT_TRUNCATION),
            re.escape(DUPLICATE_FILE_READ),
            re.escape(FIRST_USER_MESSAGE),
            rf"</?(?:{_NAMES})>",
            r"<(?:final_)?file_content path=\"",
            r"<explicit_instructions type=\"[a-z_]{1,40}\"",
            rf"\[(?:{'|'.join(sorted(TOOLS, key=len, reverse=True))})(?=\] Result:| for ')",
            r" for (?=')",
            r"\] Result:",
            r"\[TASK RESUMPTION\]|\[Response interrupted by (?:user|API Error)\]|\[\[?NOTE\]|\[ERROR\]",
            r"Failure: I did not provide a response",
            r"^# (?:Visual Studio Code |VSCode |IDE )?(?:Visible Files|Open Tabs)$",
            r"^# (?:Current Time|Current Mode|Current Cost|Actively Running Terminals|Recently Modified Files)$",
            r"^(?:ACT|PLAN) MODE$",
            r"# Context Window Usage\n[0-9.,]+ ?[KMkm]? / [0-9][0-9.,]*[KMkm]? tokens used \(",
            r"result missing",
        )
    ),
    re.MULTILINE,
)
_EXTENSION = re.compile(
    r"(?<=\.)(?:bat|c|cc|cfg|conf|cpp|cs|css|csv|dart|env|go|gradle|h|hpp|html|ini|java|js|json|jsx|kt|lock|log|lua|md|"
    r"mjs|php|pl|png|jpg|proto|ps1|py|pyi|r|rb|rs|rst|scss|sh|sql|svelte|swift|toml|ts|tsx|txt|vue|xml|yaml|yml)"
    r"(?![A-Za-z0-9_])"
)
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"
_LETTERS, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
_SHORT = 3
"""Longer words of the formats are never drawn, so that no tag or header comes into being."""
_TRIES = 40
_WIDE = 5
"""So many first signs are varied when drawing did not find a free word."""
_MOST = 200_000


class Disguise:
    """One mapping of words. For one bundle: equal words get equal disguises as long as the same object is used."""

    def __init__(self, key: bytes, mask: Mask | None = None) -> None:
        """`key` decides the words; throw it away afterwards. `mask` counts the secrets that are blotted out."""
        self._key = key[:64]
        self._mask = mask if mask is not None else Mask()
        self._known: dict[str, str] = {}
        words = {word for name in TOOLS | PARAMETERS | TAGS for word in _WORD.findall(name.lower())}
        self._taken: set[str] = {word for word in words | {"note", "result", "error"} if len(word) > _SHORT}

    def text(self, text: str) -> str:
        """The text with other words; as many UTF-16 units as before."""
        parts: list[str] = []
        end = 0
        for found in find_secrets(text) if not self._mask.keep else ():
            parts.append(self._plain(text[end : found.start]))
            parts.append(self._blot(text[found.start : found.end], found.kind))
            end = found.end
        parts.append(self._plain(text[end:]))
        return "".join(parts)

    def json(self, value: Json) -> Json:
        """A JSON value with every text disguised; keys that are no names of parameters too. Numbers and so on stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {key if key in PARAMETERS else self.text(key): self.json(item) for key, item in value.items()}
        return value

    def name(self, name: str) -> str:
        """The name of a tool: known ones stay."""
        return name if name in TOOLS else self.text(name)

    def hash(self, value: str) -> str:
        """Another hash of the same length; '' stays."""
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), key=self._key, digest_size=32).hexdigest()
        return (digest * (len(value) // len(digest) + 1))[: len(value)]

    def _blot(self, secret: str, kind: str) -> str:
        """Crosses as long as the secret, with its number at the end where there is room; line ends stay."""
        number = str(self._mask.number(secret, kind))
        crosses = "".join(sign if sign in "\r\n" else "x" * (1 + (sign > "\uffff")) for sign in secret)
        room = len(number) + 2 <= len(crosses) and not any(sign in "\r\n" for sign in crosses[-len(number) :])
        return crosses[: -len(number)] + number if room else crosses

    def _plain(self, text: str) -> str:
        parts: list[str] = []
        end = 0
        for found in _KEPT.finditer(text):
            parts.append(self._words(text, end, found.start()))
            parts.append(found[0])
            end = found.end()
        parts.append(self._words(text, end, len(text)))
        return "".join(parts)

    def _words(self, text: str, start: int, end: int) -> str:
        """A stretch without anything to keep but file extensions, for which the text around it is looked at."""
        parts: list[str] = []
        done = start
        for found in _WORD.finditer(text, start, end):
            parts.append(text[done : found.start()])
            kept = _EXTENSION.match(text, found.start())
            parts.append(found[0] if kept and kept.end() == found.end() else self._word(found[0]))
            done = found.end()
        parts.append(text[done:end])
        return "".join(parts)

    def _word(self, word: str) -> str:
        lower = word.lower()
        if len(lower) != len(word):  # folding changes the length of some letters
            lower = word
        other = self._known.get(lower)
        if other is None:
            other = self._known[lower] = self._new(lower)
        if lower == word:
            return other
        return "".join(
            new.upper() if old.isupper() and len(new.upper()) == 1 else new
            for old, new in zip(word, other, strict=True)
        )

    def _new(self, word: str) -> str:
        """A free word with signs of the same kinds. The word itself only where no other is left."""
        for candidate in self._candidates(word):
            if candidate not in self._taken and candidate != word:
                self._taken.add(candidate)
                return candidate
        self._taken.add(word)
        return word

    def _candidates(self, word: str) -> Iterator[str]:
        """Drawn ones that can be spoken, then all there are, one after the other from a drawn one on."""
        drawn = b""
        for attempt in range(_TRIES):
            seed = self._key + attempt.to_bytes(2, "big") + word.encode("utf-8", "surrogatepass")
            drawn = hashlib.shake_128(seed).digest(len(word))
            signs = (_kinds(old, place)[0] for place, old in enumerate(word))
            yield "".join(choice[drawn[place] % len(choice)] for place, choice in enumerate(signs))
        choices = [_kinds(old, place)[1] for place, old in enumerate(word[:_WIDE])]
        at = [drawn[place] % len(choice) for place, choice in enumerate(choices)]
        tail = word[_WIDE:]
        for _ in range(min(math.prod(len(choice) for choice in choices), _MOST)):
            yield "".join(choice[at[place]] for place, choice in enumerate(choices)) + tail
            for place, choice in enumerate(choices):
                at[place] = (at[place] + 1) % len(choice)
                if at[place]:
                    break


@cache
def _kinds(old: str, place: int) -> tuple[str, str]:
    """Signs of the same kind and width: those that are drawn first, and all. Digit for digit, letter for letter."""
    if old.isascii():
        if old.isdigit():
            return _DIGITS, _DIGITS
        return (_CONSONANTS if place % 2 == 0 else _VOWELS), _LETTERS
    base = ord(old) & ~0x3F
    kind = unicodedata.category(old)
    fitting = [chr(code) for code in range(base, base + 64) if unicodedata.category(chr(code)) == kind]
    stable = [sign for sign in fitting if len(sign.lower()) == 1 and len(sign.upper()) == 1 and sign.lower() == sign]
    return "".join(stable or fitting), "".join(stable or fitting)

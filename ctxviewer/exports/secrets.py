"""Finds what looks like a secret in a text, and masks it. Known shapes first, then assignments that look like one.

Better one mask too many than one secret in a bug report: a shape without a clear beginning is masked only where a name
beside it ('password', 'api key') says what it is. Equal secrets get equal marks, so that a reader still sees that they
are the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ctxviewer.domain.json import Json


class Found(NamedTuple):
    """One secret in a text."""

    start: int
    end: int
    """Exclusive."""
    kind: str
    """In words: 'GitHub token'."""


class Shape(NamedTuple):
    """A kind of secret that can be told by its form."""

    kind: str
    pattern: re.Pattern[str]
    """The secret is group 1 if there is one, else the whole."""
    needs: tuple[str, ...]
    """One of these stands in every text with such a secret: a quick look before the pattern. Lower case if `folded`."""
    folded: bool = False
    """The needs are looked for without regard to case."""


ASSIGNED = "assigned secret"
_WORD = r"[A-Za-z0-9_-]"
_ALONE = r"(?<![A-Za-z0-9])"
_DIGIT = rf"(?={_WORD}{{0,200}}\d)"
_BLOCK = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"

SHAPES: tuple[Shape, ...] = (
    Shape(
        "private key",
        re.compile(rf"-----BEGIN {_BLOCK}(.*?)(?:-----END {_BLOCK}|\Z)", re.DOTALL),
        ("PRIVATE KEY",),
    ),
    Shape("AWS access key", re.compile(r"(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}"), ("AKIA", "ASIA", "AROA", "AIDA")),
    Shape(
        "AWS secret key",
        re.compile(r"(?i:aws)[^\n]{0,40}?[\"'=:\s]([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
        ("aws",),
        folded=True,
    ),
    Shape(
        "GitHub token",
        re.compile(rf"gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_{_WORD}{{20,}}"),
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    Shape("GitLab token", re.compile(rf"gl(?:pat|dt|rt|ptt|cbt)-{_WORD}{{18,}}"), ("gl",)),
    Shape("Anthropic key", re.compile(rf"{_ALONE}sk-ant-{_WORD}{{16,}}"), ("sk-ant-",)),
    Shape("OpenRouter key", re.compile(rf"{_ALONE}sk-or-{_DIGIT}{_WORD}{{16,}}"), ("sk-or-",)),
    Shape("API key", re.compile(rf"{_ALONE}sk-{_DIGIT}{_WORD}{{20,}}"), ("sk-",)),
    Shape(
        "Stripe key",
        re.compile(r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{16,}"),
        ("_live_", "_test_", "whsec_"),
    ),
    Shape("Slack token", re.compile(r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}"), ("xox", "xapp-")),
    Shape(
        "webhook address",
        re.compile(
            r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)([A-Za-z0-9/_-]{20,})"
        ),
        ("hooks.slack.com", "/api/webhooks/"),
    ),
    Shape("Google API key", re.compile(rf"AIza{_WORD}{{30,}}"), ("AIza",)),
    Shape(
        "Google token",
        re.compile(rf"ya29\.{_WORD}{{20,}}|GOCSPX-{_WORD}{{20,}}|1//0{_WORD}{{30,}}"),
        ("ya29.", "GOCSPX-", "1//0"),
    ),
    Shape("Hugging Face token", re.compile(r"hf_[A-Za-z0-9]{20,}"), ("hf_",)),
    Shape("npm token", re.compile(r"npm_[A-Za-z0-9]{30,}"), ("npm_",)),
    Shape("PyPI token", re.compile(rf"pypi-{_WORD}{{50,}}"), ("pypi-",)),
    Shape("SendGrid key", re.compile(rf"SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}"), ("SG.",)),
    Shape("DigitalOcean token", re.compile(r"do[oprt]_v1_[a-f0-9]{40,}"), ("_v1_",)),
    Shape("Shopify token", re.compile(r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,}"), ("shp",)),
    Shape("Telegram token", re.compile(rf"\b\d{{8,10}}:AA{_WORD}{{32,}}"), (":AA",)),
    Shape("Databricks token", re.compile(r"dapi[a-f0-9]{32}"), ("dapi",)),
    Shape(
        "provider key",
        re.compile(r"(?:gsk_|xai-|pplx-|r8_|fw_|tvly-|lsv2_pt_)[A-Za-z0-9]{20,}"),
        ("gsk_", "xai-", "pplx-", "r8_", "fw_", "tvly-", "lsv2_pt_"),
    ),
    Shape("age key", re.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"), ("AGE-SECRET-KEY-1",)),
    Shape(
        "Azure key",
        re.compile(r"(?:AccountKey|SharedAccessKey|sig)=([A-Za-z0-9+/%]{30,}={0,2})"),
        ("AccountKey=", "SharedAccessKey=", "sig="),
    ),
    Shape("JSON web token", re.compile(rf"eyJ{_WORD}{{8,1024}}\.eyJ{_WORD}{{8,}}(?:\.{_WORD}*)?"), ("eyJ",)),
    Shape(
        "bearer token",
        re.compile(r"(?i:bearer)\s+([A-Za-z0-9._~+/-]{12,}={0,2})"),
        ("bearer",),
        folded=True,
    ),
    Shape(
        "authorization",
        re.compile(
            r"(?i:authorization)\\?[\"']?\s*[:=]\s*\\?[\"']?(?i:basic|token|digest|apikey)\s+([A-Za-z0-9._~+/=-]{8,})"
        ),
        ("authorization",),
        folded=True,
    ),
    Shape(
        "password in an address",
        re.compile(r"://[^\s:/@\"'<>]{0,256}:(?!\d+/)([^\s\"'<>]{1,512})@(?=[\w\[])"),
        ("://",),
    ),
)
"""In order: where two overlap, the first counts."""

_NAMED = re.compile(
    r"(?:password|passwd|passphrase|pwd|secret|token|credentials?|connection[_. -]?string|"
    r"(?:api|access|private|auth|encryption|signing|account)[_. -]?key|apikey)",
    re.IGNORECASE,
)
"""What the name of a secret contains."""
_KEY = "key"
_ROOTS = ("passw", "passphrase", "pwd", "secret", "token", "credential", "connection_string", "connectionstring", _KEY)
_KEY_OF = re.compile(r"(?:api|access|private|auth|encryption|signing|account)[_. -]?\Z")
_STRONG = re.compile(r"pass|pwd|secret|credential|private", re.IGNORECASE)
"""Names for which any value in quotes counts, however simple."""
_QUOTED = re.compile(
    r"[\w.-]{0,40}\\?[\"']?\s{0,8}(?::=|=>|[:=])\s{0,8}(?P<quote>\\?[\"'`])"
    r"(?P<value>(?:(?!\\?[\"'`]|\n).){1,4096}+)(?P=quote)"
)
_PLAIN = re.compile(r"[\w.-]{0,40}\s{0,8}(?P<sign>=|:\s)\s{0,8}(?P<value>[^\s\"'`,;(){}\[\]<>=&]{4,512}+={0,2})")
_BEFORE = re.compile(r"[\w.-]{0,60}\Z")
_PLACEHOLDER = re.compile(
    r"(?i)^(?:x+|\*+|\.+|-+|_+|<.*>?|\$\{.*|\$[a-z_]\w*|%\w+%|\{\{.*|your[-_ ].*|my[-_ ]?(?:password|secret|token|key)|"
    r"example.*|changeme|change[-_ ]me.*|placeholder.*|redacted.*|masked.*|none|null|true|false|undefined|string|str|"
    r"bool(?:ean)?|int|number|any|text|password|passwd|secret|token|api[-_]?key|process\.env.*|os\.(?:environ|getenv).*|"
    r"env\(.*|import\.meta.*|secrets?\..*|config\..*|settings\..*|self\..*|this\..*|\[masked.*)$"
)
_SHORTEST = 4
_SHORTEST_RANDOM = 16
_SHORTEST_STRONG = 6
_BITS = 3.0
"""Entropy, bits a character, from which a value looks made by chance."""


def find_secrets(text: str) -> tuple[Found, ...]:
    """All that looks like a secret, in order, not overlapping. Linear in the length of the text."""
    found: list[Found] = []
    folded = text.lower()
    for shape in SHAPES:
        if any(need in (folded if shape.folded else text) for need in shape.needs):
            for hit in shape.pattern.finditer(text):
                start, end = hit.span(1 if shape.pattern.groups else 0)
                if end > start and not _PLACEHOLDER.match(text[start:end]):
                    found.append(Found(start, end, shape.kind))
    for end in _name_ends(text, folded):
        found.extend(_assigned(text, end))
    return tuple(_apart(found))


def _name_ends(text: str, folded: str) -> Iterator[int]:
    """Where names of secrets end in a text. Looks for their roots, which is much quicker than one pattern for all."""
    if len(folded) != len(text):
        yield from (named.end() for named in _NAMED.finditer(text))
        return
    for root in _ROOTS:
        at = folded.find(root)
        while at >= 0:
            end = at + len(root)
            if root != _KEY or _KEY_OF.search(folded, max(0, at - 12), at):
                yield end
            at = folded.find(root, end)


def _assigned(text: str, end: int) -> Iterator[Found]:
    """The value that is given to the name whose root ends there, if it looks like a secret."""
    before = _BEFORE.search(text, max(0, end - 60), end)
    start = before.start() if before is not None else end
    quoted = _QUOTED.match(text, end)
    if quoted is not None:
        name, value = text[start : quoted.start("quote")], quoted["value"]
        if _is_secret(name, value):
            yield Found(*quoted.span("value"), ASSIGNED)
        return
    plain = _PLAIN.match(text, end)
    if plain is None or _PLACEHOLDER.match(plain["value"]):
        return
    name, value = text[start : plain.start("sign")].strip(), plain["value"]
    strong = _STRONG.search(name) is not None
    variable = strong and plain["sign"] == "=" and name.isupper() and "." not in value  # as in an .env file
    if variable or (strong and len(value) >= _SHORTEST_STRONG and _is_mixed(value)) or looks_random(value):
        yield Found(*plain.span("value"), ASSIGNED)


def _is_secret(name: str, value: str) -> bool:
    """Whether a text given to such a name is a secret."""
    if len(value) < _SHORTEST or _PLACEHOLDER.match(value):
        return False
    strong = _STRONG.search(name) is not None and not any(sign.isspace() for sign in value)
    return strong or looks_random(value)


def _is_mixed(value: str) -> bool:
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)


def looks_random(value: str) -> bool:
    """Whether a value looks made by chance: long, no blanks, letters and digits mixed, and high entropy."""
    if len(value) < _SHORTEST_RANDOM or any(sign.isspace() for sign in value):
        return False
    return _is_mixed(value) and entropy(value) >= _BITS


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    if not value:
        return 0.0
    length = len(value)
    return -sum(count / length * math.log2(count / length) for count in Counter(value).values())


def _apart(found: Iterable[Found]) -> Iterator[Found]:
    """The hits in order; where two overlap, one hit over both, of the kind of the first in the list."""
    joined: list[Found] = []
    ranked = sorted(enumerate(found), key=lambda item: (item[1].start, item[0]))
    for _, one in ranked:
        if joined and one.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = last._replace(end=max(last.end, one.end))
        else:
            joined.append(one)
    yield from joined


@dataclass(frozen=True, slots=True)
class MaskedKind:
    """How many secrets of one kind were masked."""

    kind: str
    places: int
    different: int


class Mask:
    """Masks secrets in texts and counts them. One for one export; `keep` leaves every text as it is."""

    def __init__(self, *, keep: bool = False) -> None:
        self.keep = keep
        self._numbers: dict[str, int] = {}
        self._places: Counter[str] = Counter()
        self._different: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Places that were masked."""
        return self._places.total()

    @property
    def kinds(self) -> tuple[MaskedKind, ...]:
        """By kind, most places first."""
        return tuple(MaskedKind(kind, count, self._different[kind]) for kind, count in self._places.most_common())

    @property
    def sentence(self) -> str:
        """What was masked, in words."""
        if self.keep:
            return "Secrets were not looked for."
        if not self.count:
            return "No secret was found."
        kinds = ", ".join(f"{row.kind} {row.places}×" for row in self.kinds)
        return f"{self.count} {'place' if self.count == 1 else 'places'} masked: {kinds}."

    def number(self, secret: str, kind: str) -> int:
        """Note one masked place; the number of the secret, from 1, the same for equal secrets."""
        self._places[kind] += 1
        if secret not in self._numbers:
            self._numbers[secret] = len(self._numbers) + 1
            self._different[kind] += 1
        return self._numbers[secret]

    def text(self, text: str) -> str:
        """The text with every secret replaced by a mark such as '[masked: GitHub token 1]'."""
        if self.keep or len(text) < _SHORTEST:
            return text
        found = find_secrets(text)
        if not found:
            return text
        parts: list[str] = []
        end = 0
        for one in found:
            parts.append(text[end : one.start])
            parts.append(f"[masked: {one.kind} {self.number(text[one.start : one.end], one.kind)}]")
            end = one.end
        parts.append(text[end:])
        return "".join(parts)

    def json(self, value: Json) -> Json:
        """A JSON value with every text in it masked, keys included."""
        if self.keep:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.member(key, item) for key, item in value.items()}
        return value

    def member(self, key: str, value: Json) -> Json:
        """The value of one key: what its name says is a secret is masked even where the value alone would not tell."""
        if isinstance(value, str) and not self.keep and _NAMED.search(key) and _is_secret(key, value):
            return f"[masked: {ASSIGNED} {self.number(value, ASSIGNED)}]"
        return self.json(value)

"""Which bundled encoding stands nearest to a model, and what that means for the numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ctxviewer.tokens.counter import DEFAULT_ENCODING

_CL100K = re.compile(r"gpt-?3\.?5|gpt-4(?!o|\.|[a-z])|text-embedding-(3|ada)")
_O200K = re.compile(r"gpt-(4o|4\.\d|[5-9]|\d{2})|gpt-oss|chatgpt-|codex|(^|[/:])o[1-9](-|$)")


@dataclass(frozen=True, slots=True)
class EncodingChoice:
    """The encoding to count a model's texts with."""

    encoding: str
    own: bool
    """True if the model's maker uses this very encoding."""
    sentence: str
    """What to say beside the number."""


def encoding_for(model_id: str) -> EncodingChoice:
    """The nearest bundled encoding for a model id, with or without a provider's prefix; '' is an unknown model."""
    model = model_id.lower()
    if _O200K.search(model):
        return EncodingChoice("o200k_base", own=True, sentence=f"counted with o200k_base, the encoding of {model_id}")
    if _CL100K.search(model):
        return EncodingChoice("cl100k_base", own=True, sentence=f"counted with cl100k_base, the encoding of {model_id}")
    whose = model_id or "an unknown model"
    sentence = f"counted with {DEFAULT_ENCODING}; {whose} counts in its own way, often 10\N{EN DASH}25 % more"
    return EncodingChoice(DEFAULT_ENCODING, own=False, sentence=sentence)

"""Token counts: counters with bundled vocabularies, a cache by content, and the table of a task's counts.

No Qt, no network, no files but the bundled ones and a cache folder that the caller names.
"""

from ctxviewer.tokens.building import count_task
from ctxviewer.tokens.cache import CachedCounter, CountCache, load_counts, save_counts
from ctxviewer.tokens.choice import EncodingChoice, encoding_for
from ctxviewer.tokens.counter import CharacterEstimator, TokenCounter, load_counter
from ctxviewer.tokens.table import SentCount, TokenSums, TokenTable
from ctxviewer.tokens.texts import BlockCount, MessageCount, count_message, count_updates

__all__ = [
    "BlockCount",
    "CachedCounter",
    "CharacterEstimator",
    "CountCache",
    "EncodingChoice",
    "MessageCount",
    "SentCount",
    "TokenCounter",
    "TokenSums",
    "TokenTable",
    "count_message",
    "count_task",
    "count_updates",
    "encoding_for",
    "load_counter",
    "load_counts",
    "save_counts",
]

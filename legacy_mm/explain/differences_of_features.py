"""The ledger's rows about feature flags in the legacy tool's files."""

from __future__ import annotations

from legacy_mm.explain.difference import Quirk
from legacy_mm.explain.relevance import either_file
from legacy_mm.features.rows import BY_NAME

_FLAGS = "tests/unit/features/test_flags.py::"
_REFRESH = ("refresh.topics.enabled", "refresh.topics")

FEATURE_QUIRKS = (
    Quirk(
        "flags-in-client-files",
        "names of MirrorMaker 2 in a consumer or producer file are unknown properties, said in one line and ignored",
        "they are feature flags, and do what they say; without them everything is as in the legacy tool; as long as no "
        "feature is on, an impossible one is ignored with a WARN line",
        "a vendor's manual told users of this command to put them there",
        _FLAGS + "test_files_of_the_clients_hold_flags_too",
        either_file(*(name for name in BY_NAME if name not in _REFRESH)),
    ),
    Quirk(
        "refresh-of-topics",
        "topics that are new and match are found whatever refresh.topics.enabled says: it is unknown",
        "the same; refresh.topics.enabled=false only keeps topic.creation from looking again",
        "what the legacy tool does by itself is no feature that could be off",
        _FLAGS + "test_the_vendors_manual_is_true",
        either_file(*_REFRESH),
    ),
)

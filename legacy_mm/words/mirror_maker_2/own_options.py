"""Options of ours beside a file of MirrorMaker 2: flags for all its flows, and those that mean nothing there.

A flag of a flow's own line, or of its source connector, counts before the option.
"""

from __future__ import annotations

from collections.abc import Iterator

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.rows import WITHOUT_EFFECT
from legacy_mm.words.mirror_maker_2.connector_properties import OWN_FLAGS, is_own_flag
from legacy_mm.words.options.option_catalogue import OPTIONS, OwnOptions

_OF_THE_LEGACY_COMMAND = (
    "handler.step",
    "handler.on.error",
    "send.on.error",
    "quarantine.topic",
    "quarantine.file",
)
"""Options about handlers and refused records: such a file says both in Connect's words."""
_INSTEAD = "transforms and errors.tolerance of the file say what becomes of records; leave it out"


def flags_for_all_flows(options: OwnOptions) -> dict[str, str]:
    """Return the flags among the options, as lines of a file; raises ConfigurationError for options without effect."""
    for name, why in _without_effect(options):
        raise ConfigurationError(
            f"{name} has no effect beside a file of MirrorMaker 2, as an option, a variable or a line of "
            f"features.config: {why}"
        )
    return dict(_lines(options))


def _without_effect(options: OwnOptions) -> Iterator[tuple[str, str]]:
    unset = OwnOptions()
    for row in OPTIONS:
        if row.name in _OF_THE_LEGACY_COMMAND and getattr(options, row.attribute) != getattr(unset, row.attribute):
            yield row.name, _INSTEAD
    for name in options.features:
        if not (is_own_flag(name) or is_own_flag(f"{name}.") or name in WITHOUT_EFFECT):
            yield name, "write it into that file, for all flows or for one"


def _lines(options: OwnOptions) -> Iterator[tuple[str, str]]:
    for name, texts in options.features.items():
        if name in OWN_FLAGS:
            yield name, texts[-1]
        elif is_own_flag(f"{name}."):
            yield from ((f"{name}.{key}", text) for key, _, text in (each.partition("=") for each in texts))

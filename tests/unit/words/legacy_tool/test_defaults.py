"""What the legacy tool sets, and the line for a file that sets something else."""

from __future__ import annotations

from legacy_mm.words.legacy_tool.defaults import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, override_notes


def test_one_line_for_each_text_that_differs() -> None:
    notes = override_notes(PRODUCER_DEFAULTS, {"acks": "-1", "max.block.ms": "9223372036854775807", "linger.ms": "5"})
    assert [note.text for note in notes] == [
        "Property acks is overridden to -1 - data loss or message reordering is possible."
    ]


def test_what_the_file_leaves_alone_is_not_said() -> None:
    assert override_notes(CONSUMER_DEFAULTS, {}) == ()
    assert override_notes(CONSUMER_DEFAULTS, {"enable.auto.commit": "false"}) == ()

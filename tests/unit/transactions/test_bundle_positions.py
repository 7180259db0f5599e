"""What a claim of a bundle finds, and what its transactions write; no socket, no session."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import UNDEFINED
from tests.unit.transactions.bundle_parts import SOURCE, JobParts, found, written


def test_reading_begins_in_the_topics_that_the_claim_has_seen() -> None:
    """Positions name their ids, so a topic that is recreated before the first fetch is another one."""
    job = JobParts()
    positions = job.positions()
    positions.decide_positions([])
    positions.read({SOURCE: 5})
    job.fetcher.resume.assert_called_once_with({SOURCE: 5}, {"t": 7}, {})


def test_reading_begins_with_the_epochs_that_the_positions_name() -> None:
    """An unclean election at the source while nobody read is seen before the first fetch."""
    job = JobParts()
    positions = job.positions()
    positions.decide_positions(found(9))
    positions.read({SOURCE: 9})
    job.fetcher.resume.assert_called_once_with({SOURCE: 9}, {"t": 7}, {SOURCE: 4})


def test_without_position_and_offset_none_leaves_the_start_to_a_person() -> None:
    job = JobParts()
    job.begins[SOURCE] = UNDEFINED
    with pytest.raises(Undecided, match=r"no reset policy for partitions: \[t-0\].* exactly-once move sets"):
        job.positions().decide_positions([])


def test_a_reset_to_the_offset_that_was_adopted_once_is_noticed() -> None:
    job = JobParts(known=5)
    copied, started = job.positions(), job.positions()
    copied.decide_positions([])
    copied.begin(((SOURCE, 5),))
    copied.marked(SOURCE)
    copied.take_marked()
    (record,) = copied.position_records(((SOURCE, 9),))
    with pytest.raises(Undecided, match="somebody copied in another mode since, or moved the group"):
        started.decide_positions([(0, *record)])


def test_a_position_that_goes_back_names_the_offset_that_the_group_has_still() -> None:
    """A mirror that is killed before the group follows finds it beside the position."""
    positions = JobParts().positions()
    positions.committed(((SOURCE, 100),))
    positions.jump(SOURCE, 90)
    assert [written(positions, offset).adopted for offset in (90, 99, 100, 90)] == [100, 100, None, None]


def test_an_adopted_position_is_certain_before_the_group_has_heard_of_it() -> None:
    """A mirror that was killed then finds it beside the offset that it has adopted."""
    job = JobParts(known=5)
    killed, started = job.positions(), job.positions()
    assert killed.decide_positions([]) == ((), ((SOURCE, 5),))
    (record,) = killed.position_records(((SOURCE, 9),))
    assert started.decide_positions([(0, *record)]) == (((SOURCE, 9),), ())

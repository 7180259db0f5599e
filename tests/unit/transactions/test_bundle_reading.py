"""What a bundle that waits lets go of; no socket, no session."""

from __future__ import annotations

from legacy_mm.clients.fetch.fetcher import NOWHERE
from legacy_mm.transactions.bundle_reading import BundleReading
from tests.unit.transactions.bundle_parts import SOURCE, JobParts


def reading(job: JobParts) -> BundleReading:
    """One that has begun."""
    positions = job.positions()
    positions.decide_positions([])
    made = BundleReading(job.parts(), positions)
    made.begin({SOURCE: 5})
    return made


def test_a_bundle_that_waits_for_long_lets_go_until_it_takes_pieces() -> None:
    job = JobParts()
    made = reading(job)
    for now in (10.0, 10.4):
        made.wait(now, lambda _: 8)
    assert not job.fetcher.hold.called
    made.wait(10.6, lambda _: 8)
    job.fetcher.hold.assert_called_once_with(SOURCE, 8)
    made.go_on(lambda _: 8)
    job.fetcher.release.assert_called_once_with(SOURCE)
    made.wait(20.0, lambda _: 9)
    assert made.holds == 1, "it waits anew"


def test_what_it_lets_go_of_is_let_go_once() -> None:
    job = JobParts()
    made = reading(job)
    for _ in range(2):
        made.park(lambda _: 8)
    assert made.holds == job.fetcher.hold.call_count == 1


def test_what_was_given_up_is_read_from_where_the_next_claim_says() -> None:
    job = JobParts()
    made = reading(job)
    made.park(lambda _: 8)
    made.give_up()
    job.fetcher.hold.assert_called_with(SOURCE, NOWHERE)
    made.begin({SOURCE: 3})
    made.go_on(lambda _: 3)
    assert not job.fetcher.release.called, "it is read already"

"""Who works on what was read, and in which order; real threads, no socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch, FetchBuffer, Work
from tests.unit.protocol.batches import record_set

A, B = (TopicPartition("t", number) for number in range(2))
LITTLE, LARGE = 100, 1 << 20
PATIENCE = 20.0


def fetched(partition: TopicPartition, position: int, size: int = LITTLE) -> CompletedFetch:
    return CompletedFetch(partition, position, record_set(), (), size)


class Watched(FetchBuffer):
    """Tells whether a thread waits in `take`."""

    def waited_for(self) -> bool:
        return self._work is not None


class Taker:
    """A thread in `take`, and what came of it."""

    def __init__(self, arrivals: Watched, work: Work) -> None:
        self.found: list[CompletedFetch | None] = []
        self.error: Exception | None = None
        self._arrivals, self._work = arrivals, work
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()
        wait_until(arrivals.waited_for, PATIENCE, "somebody who waits")

    def result(self) -> CompletedFetch | None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error
        return self.found[0]

    def _take(self) -> None:
        try:
            self.found.append(self._arrivals.take(PATIENCE, self._work))
        except CorruptRecords as error:
            self.error = error


class Reader:
    """What a reader does with an answer: in the thread of whoever calls it."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.arrivals = Watched(self.changed)

    def answered(self, *arrived: CompletedFetch) -> bool:
        """Whether it was to work on them itself."""
        with self.changed:
            work = self.arrivals.add(arrived)
        if work is not None:
            self.arrivals.do(work, arrived)
        return work is not None


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    yield made
    made.arrivals.failed(CorruptRecords("the test is over"))


def refuse(arrived: Sequence[CompletedFetch]) -> None:
    raise AssertionError(f"{arrived} were to be handed over")


def test_what_is_little_is_worked_on_by_its_reader_while_somebody_waits(reader: Reader) -> None:
    worked: list[tuple[int, Sequence[CompletedFetch]]] = []
    Taker(reader.arrivals, lambda arrived: worked.append((threading.get_ident(), arrived)))
    assert reader.answered(fetched(A, 0), fetched(B, 0))
    assert reader.answered(fetched(A, 1))
    assert worked == [
        (threading.get_ident(), (fetched(A, 0), fetched(B, 0))),
        (threading.get_ident(), (fetched(A, 1),)),
    ]
    assert reader.arrivals.waiting_bytes == 0


def test_what_is_large_is_handed_over_and_what_comes_behind_it_waits(reader: Reader) -> None:
    taker = Taker(reader.arrivals, refuse)
    with reader.changed:  # before the thread that waits can take it
        assert not reader.answered(fetched(A, 0, LARGE))
        assert not reader.answered(fetched(A, 1)), "it would overtake"
    assert taker.result() == fetched(A, 0, LARGE)
    assert reader.arrivals.take(0.0, refuse) == fetched(A, 1)


def test_nobody_waits_nobody_lends(reader: Reader) -> None:
    assert not reader.answered(fetched(A, 0))
    assert reader.arrivals.partitions() == {A}
    assert reader.arrivals.waiting_bytes == LITTLE
    assert reader.arrivals.take(0.0, refuse) == fetched(A, 0)
    assert reader.arrivals.take(0.0, refuse) is None
    assert not reader.answered(fetched(A, 1))


def test_what_comes_while_a_reader_works_waits_and_is_taken_when_it_is_done(reader: Reader) -> None:
    order: list[str] = []
    may_end = threading.Event()

    def work(arrived: Sequence[CompletedFetch]) -> None:
        order.append("begun")
        assert may_end.wait(PATIENCE)
        order.append("done")

    taker = Taker(reader.arrivals, work)
    other = threading.Thread(target=reader.answered, args=[fetched(A, 0)], daemon=True)
    other.start()
    wait_until(lambda: order, PATIENCE, "the work")
    assert not reader.answered(fetched(B, 0))
    wait_until(lambda: not reader.arrivals.waited_for(), PATIENCE, "the end of the lending")
    assert taker.found == []
    may_end.set()
    assert taker.result() == fetched(B, 0)
    assert order == ["begun", "done"]
    other.join(PATIENCE)


def test_after_a_failure_nothing_is_given_out(reader: Reader) -> None:
    """What follows a record set that was not copied must not be copied: it would become safe."""
    begun: list[Sequence[CompletedFetch]] = []

    def work(arrived: Sequence[CompletedFetch]) -> None:
        begun.append(arrived)
        raise CorruptRecords("t-0")

    taker = Taker(reader.arrivals, work)
    with reader.changed:  # before the thread that waits can look
        assert reader.answered(fetched(A, 0))
        assert not reader.answered(fetched(A, 1))
    with pytest.raises(CorruptRecords, match="t-0"):
        taker.result()
    with pytest.raises(CorruptRecords, match="t-0"):
        reader.arrivals.take(0.0, refuse)
    assert begun == [(fetched(A, 0),)]


def test_what_waits_when_a_reader_fails_is_handed_over_first(reader: Reader) -> None:
    """And nothing that comes later: other readers would put the failure off for ever."""
    assert not reader.answered(fetched(A, 0))
    reader.arrivals.failed(CorruptRecords("t-1"))
    assert not reader.answered(fetched(A, 1))
    assert reader.arrivals.take(0.0, refuse) == fetched(A, 0)
    with pytest.raises(CorruptRecords, match="t-1"):
        reader.arrivals.take(0.0, refuse)


def test_what_comes_while_work_fails_is_not_handed_over(reader: Reader) -> None:
    def work(arrived: Sequence[CompletedFetch]) -> None:
        assert not reader.answered(fetched(A, 1))
        raise CorruptRecords("t-0")

    taker = Taker(reader.arrivals, work)
    with reader.changed:  # before the thread that waits can look
        assert reader.answered(fetched(A, 0))
    with pytest.raises(CorruptRecords, match="t-0"):
        taker.result()


def test_who_waits_is_woken_once() -> None:
    changed = threading.Condition()
    arrivals = Watched(changed)
    taker = Taker(arrivals, print)
    with changed:
        arrivals.wake()
    assert taker.result() is None
    again = Taker(arrivals, print)  # it waits, although it was woken before
    with changed:
        arrivals.add([fetched(A, 1, LARGE)])
    assert again.result() == fetched(A, 1, LARGE)

"""Which copy job runs in which process, and who hears of a process that ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Frame
from legacy_mm.controlplane import copy_processes
from legacy_mm.controlplane.copy_processes import CopyProcess, CopyProcesses
from legacy_mm.runtime.channel.frames import Begin, Hello, Log, Ready, Share, Ticket

HELLO = Hello(1, "proof", 4711, 1, "here")


class Channel:
    """Makes tickets, and knows which processes may come."""

    def __init__(self) -> None:
        self.made = 100
        self.expected: list[CopyProcess] = []

    def new_ticket(self, flow: str, stream: int, generation: int) -> Ticket:
        self.made += 1
        return Ticket("here", 1, b"process", "", flow, stream, generation, self.made)

    def expect(self, process: CopyProcess) -> None:
        self.expected.append(process)

    def forget(self, process: CopyProcess) -> None:
        if process in self.expected:
            self.expected.remove(process)


class Runner:
    """Spark jobs, of which each is a process."""

    def __init__(self) -> None:
        self.on_end: dict[int, Callable[[str], None]] = {}
        self.cancelled: list[int] = []

    def submit(self, ticket: Ticket, description: str, on_end: Callable[[str], None]) -> None:
        self.on_end[ticket.number] = on_end

    def cancel(self, ticket: Ticket) -> None:
        self.cancelled.append(ticket.number)


class Peer:
    """The channel to one process."""

    def __init__(self) -> None:
        self.sent: list[Frame] = []
        self.is_closed = False

    def send(self, frame: Frame) -> None:
        if self.is_closed:
            raise ChannelError("closed")
        self.sent.append(frame)

    def close(self) -> None:
        self.is_closed = True


class Bench:
    """A pool of two processes, and what became of its jobs."""

    def __init__(self, most: int = 2) -> None:
        self.channel, self.runner = Channel(), Runner()
        self.pool = CopyProcesses(self.channel, self.runner, most)  # type: ignore[arg-type]
        self.ended: list[tuple[int, str]] = []

    def begin(self, number: int) -> Ticket:
        ticket = Ticket("here", 1, b"job", "", "a->b", number, 1, number)
        self.pool.submit(ticket, "a job", lambda reason: self.ended.append((number, reason)))
        return ticket

    def come(self, process: CopyProcess) -> Peer:
        """Let a process present its ticket and say that it is ready."""
        peer: Any = Peer()
        assert process.admit(peer, HELLO) == Share()
        process.received(Ready())
        return peer  # type: ignore[no-any-return]

    def processes(self) -> list[list[int]]:
        """The numbers of the jobs in each process that may come or has come."""
        return [[ticket.number for ticket in process.jobs] for process in self.channel.expected]


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(autouse=True)
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(copy_processes, "kill_worker", found.append)
    return found


def test_jobs_are_spread_over_as_many_processes_as_there_may_be(bench: Bench) -> None:
    for number in range(1, 6):
        bench.begin(number)
    assert bench.processes() == [[1, 3, 5], [2, 4]]


def test_the_first_job_goes_into_the_process_that_waits_for_it(bench: Bench) -> None:
    bench.pool.warm_up()
    process = bench.channel.expected[0]
    peer = bench.come(process)
    first = bench.begin(1)
    bench.begin(2)
    assert bench.processes() == [[1], [2]]
    assert peer.sent == [Begin.of(first)]
    bench.pool.cancel(first)
    assert peer.is_closed


def test_a_job_goes_where_fewest_are(bench: Bench) -> None:
    tickets = [bench.begin(number) for number in range(1, 6)]
    bench.pool.cancel(tickets[0])
    bench.pool.cancel(tickets[2])
    bench.begin(6)
    assert bench.processes() == [[5, 6], [2, 4]]


def test_a_ticket_waits_until_its_process_takes_tickets(bench: Bench) -> None:
    """Each is sent once, the key with it."""
    first = bench.begin(1)
    bench.begin(2)
    third = bench.begin(3)
    process = bench.channel.expected[0]
    peer = bench.come(process)
    bench.begin(4)
    later = bench.begin(5)
    assert peer.sent == [Begin.of(first), Begin.of(third), Begin.of(later)]
    assert peer.sent[0].ticket(process.ticket) == first  # type: ignore[attr-defined]


def test_a_process_is_admitted_once(bench: Bench) -> None:
    bench.begin(1)
    process = bench.channel.expected[0]
    bench.come(process)
    stranger: Any = Peer()
    assert process.admit(stranger, HELLO) is None


def test_a_process_ends_with_its_last_job(bench: Bench) -> None:
    first, _, third = (bench.begin(number) for number in (1, 2, 3))
    process = bench.channel.expected[0]
    peer = bench.come(process)
    bench.pool.cancel(first)
    before = peer.is_closed
    bench.pool.cancel(third)
    assert (before, peer.is_closed) == (False, True)
    assert bench.processes() == [[2]]
    assert bench.runner.cancelled == [process.ticket.number]
    process.closed()
    assert bench.ended == []


def test_a_process_that_has_not_come_yet_is_not_let_in_any_more(bench: Bench) -> None:
    bench.pool.cancel(bench.begin(1))
    assert bench.processes() == []


@pytest.mark.parametrize("how", ["channel", "Spark job"])
def test_all_jobs_of_a_process_hear_of_its_end(bench: Bench, how: str) -> None:
    for number in (1, 2, 3):
        bench.begin(number)
    process = bench.channel.expected[0]
    bench.come(process)
    if how == "channel":
        process.closed()
    else:
        bench.runner.on_end[process.ticket.number]("its process ended")
    assert bench.ended == [(1, "its process ended"), (3, "its process ended")]
    assert not any(bench.pool.is_spared(ticket) for ticket in process.jobs)
    bench.begin(4)
    assert bench.processes() == [[2], [4]]


def test_who_is_killed_with_another_one_is_spared(bench: Bench, killed: list[int]) -> None:
    first, second, third = (bench.begin(number) for number in (1, 2, 3))
    process = bench.channel.expected[0]
    peer = bench.come(process)
    bench.pool.kill(first, 4711)
    assert killed == [4711]
    assert peer.is_closed
    assert [bench.pool.is_spared(ticket) for ticket in (first, second, third)] == [False, False, True]
    process.closed()
    assert [number for number, _ in bench.ended] == [1, 3]
    bench.pool.cancel(third)
    assert not bench.pool.is_spared(third), "it is not asked for any more"
    bench.begin(4)
    assert bench.processes() == [[2], [4]], "nothing new begins in a process that is being killed"


def test_log_lines_of_tasks_are_written_here(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    bench.begin(1)
    process = bench.channel.expected[0]
    bench.come(process)
    process.received(Log("stream-over", {"stream": "3"}))
    process.received(Log("of another version", {}))
    assert caplog.messages == ["Stream 3 is over"]

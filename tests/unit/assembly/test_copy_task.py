"""A task whose channel is gone ends at once, and does nothing to its queue before."""

from __future__ import annotations

import ctypes
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from legacy_mm.assembly import copy_task as task
from legacy_mm.assembly.copy_task import ABANDONED
from legacy_mm.base.reports import Frame
from legacy_mm.runtime.channel.channel import Peer
from legacy_mm.runtime.channel.frames import Ticket, Understood

SECONDS = 20.0
MOMENT = 0.5
TASK = """
import os, socket, sys
from types import SimpleNamespace
from legacy_mm.runtime.channel.frames import Lease
from legacy_mm.assembly import copy_task as task

passed = 0.0
seconds = task.monotonic
task.monotonic = lambda: seconds() + passed
task.LEASE_TIMEOUT = 3600.0

class Peer:
    line = socket.socket(fileno=int(sys.argv[1]))
    def receive(self):
        global passed
        if not passed:
            if not self.line.recv(1):
                return None
            passed = task.LEASE_TIMEOUT + 1
        return Lease()
    def send(self, frame):
        pass
    def close(self):
        pass
    def watch(self, reader, on_frame, on_end):
        while (frame := self.receive()) is not None:
            on_frame(frame)
        on_end(None)

class Engine:
    def run(self):
        while True:
            os.write(1, b"sent ")
    def purge(self):
        os.write(1, b"purged ")

task.copy_engine = lambda config, send, buffers: Engine()
task.CopyTask(Peer(), SimpleNamespace(handler=None), task.TaskProcess()).run()
"""


@contextmanager
def copying() -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """A task that sends, and the driver's end of its channel: a byte is a lease that it finds after it was frozen."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", TASK, str(theirs.fileno())]
        with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[theirs.fileno()]) as process:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"sent "
            try:
                yield process, ours
            finally:
                process.kill()


def test_nothing_is_purged_while_the_engine_still_sends() -> None:
    """A frozen node woke up, purged and sent two more records: those came before the ones it had purged."""
    with copying() as (process, channel):
        channel.shutdown(socket.SHUT_RDWR)
        assert b"purged" not in process.communicate(timeout=SECONDS)[0]
    assert process.returncode == ABANDONED


def test_a_lease_that_was_waiting_renews_nothing() -> None:
    """Driver and task were frozen together: the partitions may be somebody else's by now."""
    with copying() as (process, channel):
        channel.send(b"x")
        process.wait(SECONDS)
    assert process.returncode == ABANDONED


NO_TICKET = Ticket("", 0, b"", "", "", 0, 0, 0)
LAST_WORDS = """
import socket, sys
from types import SimpleNamespace
from legacy_mm.runtime.channel.frames import Ticket
from legacy_mm.assembly import copy_task as task
from legacy_mm.base.errors import SendFailure
from legacy_mm.runtime.channel.channel import Peer

class Engine:
    def run(self):
        print("copied", flush=True)
        if sys.argv[2] == "Failure":
            raise SendFailure("refused")
        return {}
    def purge(self):
        pass

line = socket.socket(fileno=int(sys.argv[1]))
task.copy_engine = lambda config, send, buffers: Engine()
task.CopyTask(Peer(line, Ticket("", 0, b"", "", "", 0, 0, 0)), SimpleNamespace(handler=None), task.TaskProcess()).run()
"""


@pytest.mark.parametrize(
    ("last", "answer"), [("Stopped", Understood()), ("Failure", Understood()), ("Stopped", None)], ids=str
)
def test_a_task_stays_until_its_last_word_is_read(last: str, answer: Frame | None) -> None:
    """What the driver had not read yet, its safe offsets, went with a process that ended at once."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", LAST_WORDS, str(theirs.fileno()), last]
        with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[theirs.fileno()]) as process:
            driver = Peer(ours, NO_TICKET)
            assert type(driver.receive()).__name__ == last
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(MOMENT)
            if answer is None:
                driver.close()
            else:
                driver.send(answer)
            assert process.wait(SECONDS) == 0


TOO_LATE = """
import sys
from legacy_mm.runtime.channel.frames import Ticket
from legacy_mm.assembly import copy_task as task

assert list(task.run(iter([Ticket("127.0.0.1", int(sys.argv[1]), b"", sys.argv[2], "", 0, 0, 0)]))) == []
"""


@pytest.mark.parametrize(("certificate", "said"), [("", ""), ("of a cluster", "ConnectionRefusedError")])
def test_a_task_that_starts_while_the_mirror_stops_ends_in_silence(certificate: str, said: str) -> None:
    """On this host only the end of the mirror closes its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = [sys.executable, "-c", TOO_LATE, str(port), certificate]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == bool(said)
    assert said in done.stderr if said else not done.stderr


PAGE_FAULTS = """
import resource, sys
from legacy_mm.assembly import copy_task as task

def faults():
    for _ in range(20):
        answers = [bytearray(5 << 20) for _ in range(4)]
        del answers
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

faults()
before = faults()
task._keep_freed_memory()
settled = faults()
print(settled - before, faults() - settled)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_is_freed_is_kept_for_the_next_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PAGE_FAULTS], capture_output=True, text=True, check=True, timeout=SECONDS
    )
    settling, after = map(int, done.stdout.split())
    assert after < settling / 4, (settling, after)


def test_a_c_library_that_cannot_be_told_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    task._keep_freed_memory()

"""A task whose channel is gone ends at once, and does nothing to its queue before."""

from __future__ import annotations

import socket
import subprocess
import sys

from legacy_mm.dataplane.task import ABANDONED

TASK = """
import os, socket, sys
from legacy_mm.dataplane import task

class Peer:
    line = socket.socket(fileno=int(sys.argv[1]))
    def receive(self):
        self.line.recv(1)
        return None
    def send(self, frame):
        pass

class Engine:
    def run(self):
        while True:
            os.write(1, b"sent ")
    def purge(self):
        os.write(1, b"purged ")

task.present = lambda ticket: (Peer(), None)
task._engine = lambda plan, report: Engine()
task.CopyTask(None).run()
"""


def test_nothing_is_purged_while_the_engine_still_sends() -> None:
    """A frozen node woke up, purged and sent two more records: those came before the ones it had purged."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", TASK, str(theirs.fileno())]
        with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[theirs.fileno()]) as process:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"sent "
            ours.shutdown(socket.SHUT_RDWR)
            assert b"purged" not in process.stdout.read()
    assert process.returncode == ABANDONED

"""A tree counts children, living and ended, once each; and children never outlive a spawner."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

import psutil

from legacy_mm.audit.process_tree import ProcessTree
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

PATIENCE = 30.0
# A shell whose first child works for a while and is waited for; then a second one lives on.
BUSY = "import time\nwhile time.process_time() < 0.5: pass"
SCRIPT = f"'{sys.executable}' -c '{BUSY}'; echo worked; '{sys.executable}' -c 'input()' < $1 & wait"


def test_ended_children_count_and_living_ones_are_seen(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    tool = ToolProcess(["sh", "-c", SCRIPT, "sh", str(tmp_path / "fifo")], tmp_path)
    try:
        tool.wait_for_output("worked", PATIENCE)
        wait_until(lambda: len(tool.tree.pids()) >= 2, PATIENCE, "the second child")
        assert tool.tree.pids()[0] == tool.pid
        assert 0.45 <= tool.tree.cpu_seconds() < 5  # ticks of 10 ms are cut
        assert tool.tree.memory_bytes() > 0
    finally:
        tool.kill_tree()
    assert tool.tree.pids() == []


def test_an_orphan_that_was_seen_stays_in_the_tree(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    tool = ToolProcess(["sh", "-c", "sleep 600 & read line < fifo"], tmp_path)
    try:
        wait_until(lambda: len(tool.tree.pids()) == 2, PATIENCE, "the child")
        (tmp_path / "fifo").write_text("go\n")
        tool.wait(PATIENCE)
        assert len(tool.tree.pids()) == 1
    finally:
        tool.kill_tree()
    assert tool.tree.pids() == []


def test_our_own_memory_and_cpu_look_right() -> None:
    tree = ProcessTree(os.getpid())
    assert tree.cpu_seconds() >= psutil.Process().cpu_times().user * 0.9
    assert tree.memory_bytes() > 5_000_000


def test_threads_are_counted_as_tasks() -> None:
    tree = ProcessTree(os.getpid())
    before, over = tree.tasks(), threading.Event()
    threads = [threading.Thread(target=over.wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    try:
        assert tree.tasks() == before + 5
        (largest, *_) = tree.sizes()
        assert sys.executable.rpartition("/")[2] in largest.command
        assert largest.memory > 5_000_000
        assert sum(size.tasks for size in tree.sizes()) == before + 5
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_sockets_are_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with socket.create_connection(address):
            assert (os.getpid(), address[1]) in ProcessTree(os.getpid()).connections()

"""As PID 1 of a container: nothing can be written but TMPDIR, the user has a number only, and there is no home."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import CHECKOUT
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
COPIED = 60.0
USER = 1000
PROGRAMS = ("unshare", "nsenter", "mount", "chroot")
# $1: an empty folder for the root; $2: paths to show in it, one a line; the rest: the command
CONTAINER = r"""
set -e
root=$1 paths=$2
shift 2
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root/proc" "$root/scratch"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/scratch"
echo "$paths" | while read -r path; do
    if [ -L "$path" ]; then
        cp -P "$path" "$root$path"
    elif [ -d "$path" ]; then
        mkdir -p "$root$path"
        mount --bind "$path" "$root$path"
        mount -o remount,bind,ro "$root$path"
    fi
done
grep -v '^[^:]*:[^:]*:1000:' /etc/passwd >"$root/passwd"
mount --bind "$root/passwd" "$root/etc/passwd"
mount -o remount,ro "$root"
exec chroot --userspec=1000:1000 --groups= "$root" env -i PATH=/usr/bin:/bin TMPDIR=/scratch "$@"
"""


def children(pid: int) -> dict[int, str]:
    """Process id -> state of the children."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(") ")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == pid:
            found[int(name.split()[0])] = state
    return found


@pytest.fixture
def in_container(our_tool: Callable[..., ToolProcess], tmp_path: Path) -> Callable[..., tuple[ToolProcess, int]]:
    """Start our tool in one; the process outside, and the number that the PID 1 inside has outside."""
    if os.getuid() != 0 or (missing := [name for name in PROGRAMS if not shutil.which(name)]):
        pytest.skip("needs root" if os.getuid() else f"needs {', '.join(missing)}")

    def start(*words: Any) -> tuple[ToolProcess, int]:
        root = tmp_path / "root"
        root.mkdir()
        tmp_path.chmod(0o755)
        shown = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", CHECKOUT, tmp_path]
        shown.append(Path(sys.base_prefix))
        wrapper = ("unshare", "--mount", "--pid", "--fork", "sh", "-c", CONTAINER, "sh", str(root))
        tool = our_tool(*words, wrapper=(*wrapper, "\n".join(map(str, shown))))
        wait_until(lambda: bool(children(tool.pid)), COPIED, "the first process inside")
        return tool, next(iter(children(tool.pid)))

    return start


def test_it_mirrors_and_stops_as_pid_1(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    in_container: Callable[..., tuple[ToolProcess, int]],
) -> None:
    name = topic()
    create_topic(source.bootstrap, name)
    load(source.bootstrap, name, 100, 20)
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    tool, first = in_container(consumer, {"bootstrap.servers": target.bootstrap}, "--whitelist", name)

    wait_until(
        lambda: not tool.running() or sum(end_offsets(target.bootstrap, name).values()) >= 100, COPIED, "100 records"
    )
    assert tool.running(), tool.output()
    status = Path(f"/proc/{first}/status").read_text()
    assert f"Uid:\t{USER}\t{USER}" in status
    assert [line for line in status.splitlines() if line.startswith("NSpid:")] == [f"NSpid:\t{first}\t1"]
    assert Path(f"/proc/{first}/comm").read_text() == "java\n"
    write = ["nsenter", "-t", str(first), "-m", "-r", "--setuid", str(USER), "touch", str(CHECKOUT / "a"), "/b"]
    assert subprocess.run(write, capture_output=True, check=False).returncode != 0, "only TMPDIR can be written"

    before = set(children(first))
    orphan = ["nsenter", "-t", str(first), "-p", "sh", "-c", "sleep 1 & exit 0"]
    subprocess.run(orphan, check=True)
    wait_until(lambda: bool(set(children(first)) - before), COPIED, "an orphan that falls to PID 1")
    wait_until(lambda: not set(children(first)) - before, COPIED, "its end, and nothing left of it")

    os.kill(first, signal.SIGTERM)
    assert tool.wait(40) == 143
    assert "ERROR" not in tool.output()

"""Lines that some append and another takes away: none is lost in between, wherever one of them is cut off."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from legacy_mm.handlers.line_file import append, take, was_taken

LINES = 300
APPEND = f"""
import sys
from pathlib import Path
from legacy_mm.handlers.line_file import append

for number in range({LINES}):
    append(Path(sys.argv[1]), b"%s %d" % (sys.argv[2].encode(), number))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "aside.jsonl"


def taken_lines(file: Path) -> list[bytes]:
    """What is taken and done with now."""
    with take(file) as taken:
        return taken.done().read_bytes().splitlines()


def test_its_folder_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "removed" / "aside.jsonl"
    append(file, b"1")
    assert file.read_bytes() == b"1\n"


def test_what_comes_while_lines_are_taken_is_in_a_new_file(file: Path) -> None:
    append(file, b"1")
    with take(file) as taken:
        append(file, b"2")
        assert taken.path.read_bytes() == b"1\n"
        taken.done()
    assert file.read_bytes() == b"2\n"
    assert not was_taken(file)


def test_a_line_is_not_written_to_a_file_that_was_taken_meanwhile(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the opening of the file and its lock."""
    append(file, b"1")
    taken: list[list[bytes]] = []
    lock = fcntl.lockf

    def late(descriptor: int, how: int) -> None:
        if not taken:
            monkeypatch.setattr(fcntl, "lockf", lock)
            taken.append(taken_lines(file))
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "lockf", late)
    append(file, b"2")
    assert taken == [[b"1"]]
    assert file.read_bytes() == b"2\n"


def test_what_was_taken_and_not_done_with_is_taken_first(file: Path) -> None:
    append(file, b"1")
    with pytest.raises(KeyboardInterrupt), take(file):
        raise KeyboardInterrupt
    append(file, b"2")
    assert was_taken(file)
    assert [taken_lines(file), taken_lines(file)] == [[b"1"], [b"2"]]


def test_what_is_done_with_keeps_its_name(file: Path) -> None:
    for number in range(3):
        append(file, b"%d" % number)
        taken_lines(file)
    names = ("aside.jsonl.redriven", "aside.jsonl.redriven.2", "aside.jsonl.redriven.3")
    assert [file.with_name(name).read_bytes() for name in names] == [b"0\n", b"1\n", b"2\n"]
    assert len(list(file.parent.iterdir())) == len(names)


def test_each_line_of_several_processes_is_taken_once(file: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", APPEND, str(file), name]) for name in "ab"]
    taken: Counter[bytes] = Counter()
    while any(writer.poll() is None for writer in writers) or file.exists():
        if file.exists():
            taken.update(taken_lines(file))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert taken == Counter(b"%s %d" % (name, number) for name in (b"a", b"b") for number in range(LINES))


def test_a_torn_line_takes_no_other_with_it(file: Path) -> None:
    """The process was killed while it wrote."""
    append(file, b"1")
    file.write_bytes(file.read_bytes() + b"tor")
    append(file, b"2")
    assert file.read_bytes() == b"1\ntor\n2\n"


def test_of_a_line_that_does_not_fit_nothing_is_left(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(file, b"1")
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:3]))
    with pytest.raises(OSError, match="No space left"):
        append(file, b"22222")
    assert file.read_bytes() == b"1\n"

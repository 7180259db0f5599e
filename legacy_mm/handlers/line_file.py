"""A file of lines that some processes append to while another one takes its lines away: none is lost in between.

Who appends opens the file by its name for each line, locks it, and opens it anew if the name does not mean it any
more. Who takes the lines away renames the file under that lock to `FILE.redriving`; the next line begins a new FILE.
Nothing is added to what was taken. When it is done with it is renamed once more, to `FILE.redriven`, or to
`FILE.redriven.2` and so on: what had such a name keeps it.

Who is killed while it writes leaves a torn line. The next line begins behind its own end of line, so that no other one
is lost with it.

Each step is one rename, so wherever this ends, the lines are in FILE, in `FILE.redriving`, which is then the first to
be taken again, or done with. Two who take lines away do so one after the other, by a lock that no append waits for.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

_END = b"\n"
_TAKEN, _DONE = ".redriving", ".redriven"


def append(path: Path, line: bytes) -> None:
    """Write to the disk; a file that is made has mode 0600, and its folder is made. Raises OSError, and the file is as
    before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _held(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, fcntl.lockf) as descriptor:
        size = os.fstat(descriptor).st_size
        is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != _END
        written = (_END if is_torn else b"") + line + _END
        if os.write(descriptor, written) < len(written):
            os.ftruncate(descriptor, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)


@dataclass(frozen=True, slots=True)
class Taken:
    """Lines that no other process adds to or takes."""

    path: Path
    _origin: Path

    def done(self) -> Path:
        """Mark the lines as done and return the path that holds them now."""
        numbers = chain([""], (f".{number}" for number in count(2)))
        names = (self._origin.with_name(f"{self._origin.name}{_DONE}{number}") for number in numbers)
        return self.path.rename(next(name for name in names if not name.exists()))


def was_taken(path: Path) -> bool:
    """Return True if lines were taken and are not done yet."""
    return _taken(path).exists()


def holding(path: Path) -> list[Path]:
    """Return the files with lines that are not done: those taken, and those that came since."""
    return [each for each in (_taken(path), path) if each.exists()]


@contextmanager
def take(path: Path) -> Iterator[Taken]:
    """Take the lines that were taken and are not done, else the current lines of the file; raise OSError."""
    taken = _taken(path)
    if not taken.exists():
        _rename(path, taken)
    with _held(taken, os.O_RDONLY, fcntl.flock):
        yield Taken(taken, path)


def _taken(path: Path) -> Path:
    return path.with_name(f"{path.name}{_TAKEN}")


def _rename(path: Path, taken: Path) -> None:
    with _held(path, os.O_RDWR, fcntl.lockf):
        if not taken.exists():
            path.rename(taken)


@contextmanager
def _held(path: Path, flags: int, lock: Callable[[int, int], None]) -> Iterator[int]:
    """Yield a descriptor of the named file, which stays locked meanwhile.

    A `lockf` of this process ends when it closes any descriptor of the file; `flock` and `lockf` do not see each other.
    """
    while True:
        descriptor = os.open(path, flags, 0o600)
        try:
            lock(descriptor, fcntl.LOCK_EX)
            if _is_at(path, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False

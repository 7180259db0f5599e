"""Makes this process look like the old one: its name is `java`, and `jps` lists it as `kafka.tools.MirrorMaker`.

`ps` shows the right words already; the name is where the start script found a Python called java. For `jps`:
every JVM keeps a file of counters in `/tmp/hsperfdata_<user>`, named after its process id, and `jps` reads there what
command runs. Ours holds just that, for the one process that handles signals; Spark's JVM keeps none. As with Java, a
folder that cannot be written is no error.
"""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import os
import pwd
import resource
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

CLASS_NAME = "kafka.tools.MirrorMaker"
MIRROR_MAKER_2 = "org.apache.kafka.connect.mirror.MirrorMaker"
CLASS_NAMES = (CLASS_NAME, MIRROR_MAKER_2)
_NAME = b"java"
_PR_SET_NAME = 15
_TEMPORARY = Path("/tmp")  # whatever TMPDIR says: HotSpot and jps look nowhere else
_PROLOGUE = struct.Struct("=4sbbbbiiqii")
_ENTRY = struct.Struct("=iiibbbbi")
_FILE_BYTES = 32_768
_STRING, _UNITS_STRING, _CONSTANT = ord("B"), 5, 1


def take_on() -> None:
    """Change the command name to `java`, if the process may choose; `kill -3` prints all stacks on stdout.

    The limit of open files becomes the hard limit: service managers leave the soft one low, and HotSpot raises it.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_NAME, _NAME)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    faulthandler.register(signal.SIGQUIT, file=1, all_threads=True)


@contextmanager
def shown_by_jps(words: Sequence[str], java_options: Sequence[str], class_name: str = CLASS_NAME) -> Iterator[None]:
    """Let `jps -lmv` show the class, its words and the Java options while the block runs."""
    file: Path | None = None
    descriptor = -1
    with suppress(OSError, KeyError):
        folder = _TEMPORARY / f"hsperfdata_{pwd.getpwuid(os.getuid()).pw_name}"
        folder.mkdir(mode=0o755, exist_ok=True)
        if not folder.is_symlink() and folder.stat().st_uid == os.getuid():
            file = folder / str(os.getpid())
            file.unlink(missing_ok=True)  # left by an earlier process with our process id
            descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, 0o600)
            os.write(descriptor, _counters(" ".join([class_name, *words]), " ".join(java_options)))
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # shows a starting JVM that the owner is alive
    try:
        yield
    finally:
        if descriptor >= 0 and file is not None:
            with suppress(OSError):
                file.unlink()
            os.close(descriptor)


def _counters(command: str, java_options: str) -> bytes:
    entries = [
        _counter("sun.rt.javaCommand", command),
        _counter("java.rt.vmArgs", java_options),
        _counter("java.rt.vmFlags", ""),
    ]
    body = b"".join(entries)
    little_endian = int(sys.byteorder == "little")
    magic, version, accessible = b"\xca\xfe\xc0\xc0", (2, 0), 1
    used, overflow, modified, first = _PROLOGUE.size + len(body), 0, 1, _PROLOGUE.size
    prologue = _PROLOGUE.pack(magic, little_endian, *version, accessible, used, overflow, modified, first, len(entries))
    return (prologue + body).ljust(_FILE_BYTES, b"\0")


def _counter(name: str, value: str) -> bytes:
    named, data = name.encode() + b"\0", value.encode(errors="replace")[:4095] + b"\0"
    start = _ENTRY.size + len(named)
    length = (start + len(data) + 7) // 8 * 8
    head = _ENTRY.pack(length, _ENTRY.size, len(data), _STRING, 0, _UNITS_STRING, _CONSTANT, start)
    return (head + named + data).ljust(length, b"\0")

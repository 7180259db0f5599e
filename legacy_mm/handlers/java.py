"""Handler jars: a JVM inside the copy task, and whole batches across its border. The door to JPype.

Order of a start: (1) the JVM, deaf to signals and with a small heap; (2) the bridge, compiled for the release whose
record class is on the class path; (3) the user's object, made by the bridge: JPype never sees it, for it would look at
all its methods, also at those whose types are missing (0.9's `MessageAndMetadata`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

from legacy_mm.config.settings import HandlerSettings
from legacy_mm.errors import HandlerFailure, HostError
from legacy_mm.handlers.batches import Handled
from legacy_mm.handlers.java_source import CLASS, source
from legacy_mm.model import Columns

_OWN_OPTIONS = ("-Xrs", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-Xmx256m")
_KEPT_OPTIONS = ("-D", "-Xmx", "-Xms", "-Xss")
_RECORD = "kafka.consumer.BaseConsumerRecord"
_COUNTS = 5


class JavaBatches:
    """Gives whole batches to a Java handler."""

    def __init__(self, settings: HandlerSettings, java: Path, compiler_jars: Sequence[str]) -> None:
        """Start the JVM of this process and make the handler; raises HandlerFailure, HostError."""
        try:
            import jpype
        except ImportError:
            raise HostError("a Java handler needs JPype in the copy task: pip install 'legacy-mm[java]'") from None
        options = [option for option in settings.java_options if option.startswith(_KEPT_OPTIONS)]
        library = java.resolve().parent.parent / "lib" / "server" / "libjvm.so"
        jpype.startJVM(
            *_OWN_OPTIONS,
            *options,
            jvmpath=str(library),
            classpath=[*settings.class_path, *compiler_jars],
            convertStrings=False,
            interrupt=False,
        )
        self._input = _Shared(jpype.nio.convertToDirectBuffer)
        try:
            self._run = _bridge(jpype, settings).run
        except jpype.JException as error:
            raise HandlerFailure(f"{settings.name} cannot be made: {_root(error)}") from None

    def handle(self, batch: Columns) -> Handled:
        """One call of Java for the batch, one of the user's method for each record."""
        return _decoded(bytes(self._run(self._input.holding(_encoded(batch)))))


class _Shared:
    """Memory that both sides see: to convert bytes into an array of Java's costs 2 us a record of 1 KB."""

    def __init__(self, for_java: Callable[[memoryview], Any]) -> None:
        self._for_java = for_java
        self._memory = memoryview(b"")
        self._buffer: Any = None

    def holding(self, data: bytes) -> Any:
        """Java's view, which begins with these bytes."""
        if len(data) > len(self._memory):
            self._memory = memoryview(bytearray(2 * len(data)))
            self._buffer = self._for_java(self._memory)
        self._memory[: len(data)] = data
        return self._buffer


def _bridge(jpype: Any, settings: HandlerSettings) -> Any:
    java = jpype.JPackage("java").lang
    loader = java.ClassLoader.getSystemClassLoader()
    record = java.Class.forName(_RECORD, True, loader)
    arguments = max(constructor.getParameterCount() for constructor in record.getConstructors())
    compiler = jpype.JClass("org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(loader)
    compiler.cook(source(arguments))
    return jpype.JClass(compiler.getClassLoader().loadClass(CLASS))(settings.name, settings.argument, loader)


def _root(error: Any) -> str:
    """What really happened, without the wrapping of reflection."""
    while (cause := error.getCause()) is not None:
        error = cause
    return str(error.toString())


def _encoded(batch: Columns) -> bytes:
    topics = {name: number for number, name in enumerate(dict.fromkeys(batch.topics))}
    titles = [name.encode() for name in topics]
    pairs = list(chain.from_iterable(batch.headers))
    names, texts = [name.encode() for name, _ in pairs], [value for _, value in pairs]
    ints = array("i", (len(batch.topics), len(titles), len(pairs)))
    for column in (
        _sizes(titles),
        map(topics.__getitem__, batch.topics),
        batch.partitions,
        batch.timestamp_types,
        _sizes(batch.keys),
        _sizes(batch.values),
        map(len, batch.headers),
        _sizes(names),
        _sizes(texts),
    ):
        ints.extend(column)
    longs = array("q", batch.offsets)
    longs.extend(batch.timestamps)
    blobs = chain(titles, batch.keys, batch.values, names, texts)
    return b"".join((ints, longs, *filter(None, blobs)))


def _sizes(blobs: Sequence[bytes | None]) -> list[int]:
    return [-1 if blob is None else len(blob) for blob in blobs]


def _decoded(data: bytes) -> Handled:
    reading = _Reading(data)
    handled, count, topic_count, pair_count, error_size = reading.ints(_COUNTS)
    ends = reading.ints(handled)
    topic_sizes, topic_numbers = reading.ints(topic_count), reading.ints(count)
    partitions, key_sizes, value_sizes, header_counts = (reading.ints(count) for _ in range(4))
    name_sizes, text_sizes = reading.ints(pair_count), reading.ints(pair_count)
    timestamps = reading.longs(count)
    topics = [name.decode() for name in reading.blobs(topic_sizes) if name is not None]
    keys, values = reading.blobs(key_sizes), reading.blobs(value_sizes)
    names = [name.decode() for name in reading.blobs(name_sizes) if name is not None]
    pairs = list(zip(names, reading.blobs(text_sizes), strict=True))
    headers = [tuple(pairs[begin:end]) for begin, end in pairwise(accumulate(header_counts, initial=0))]
    targets = zip(
        map(topics.__getitem__, topic_numbers),
        keys,
        values,
        headers,
        [None if number < 0 else number for number in partitions],
        [None if time < 0 else time for time in timestamps],
        strict=True,
    )
    error = None if error_size < 0 else b"".join(filter(None, reading.blobs((error_size,)))).decode()
    return Handled(list(targets), ends, error)


class _Reading:
    """Goes through the bytes of an answer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def ints(self, count: int) -> list[int]:
        """The next 32-bit numbers."""
        return self._numbers("i", 4 * count)

    def longs(self, count: int) -> list[int]:
        """The next 64-bit numbers."""
        return self._numbers("q", 8 * count)

    def blobs(self, sizes: Sequence[int]) -> list[bytes | None]:
        """The next bytes, cut into these sizes."""
        found: list[bytes | None] = []
        for size in sizes:
            if size < 0:
                found.append(None)
            else:
                found.append(self._data[self._at : self._at + size])
                self._at += size
        return found

    def _numbers(self, kind: str, size: int) -> list[int]:
        begin, self._at = self._at, self._at + size
        found = array(kind)
        found.frombytes(self._data[begin : self._at])
        return found.tolist()

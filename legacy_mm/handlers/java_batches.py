"""Handler jars: a JVM inside the copy task, and whole batches across its border. The door to JPype.

Order of a start: (1) the JVM, deaf to signals and with a small heap; (2) the bridge, compiled for the release whose
record class is on the class path; (3) the user's object, made by the bridge: JPype never sees it, for it would look at
all its methods, also at those whose types are missing (0.9's `MessageAndMetadata`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise, repeat
from operator import itemgetter
from pathlib import Path
from struct import pack, unpack_from
from typing import Any, TypeVar

from legacy_mm.config.settings import HandlerSettings
from legacy_mm.errors import HandlerFailure, HostError
from legacy_mm.handlers import java_exit
from legacy_mm.handlers.batches import Handled
from legacy_mm.handlers.java_exit import ProgramExit
from legacy_mm.handlers.java_source import (
    CLASS,
    NO_PARTITIONS,
    SAME_KEYS,
    SAME_TIMESTAMPS,
    SAME_VALUES,
    source,
)
from legacy_mm.model import Columns, Outgoing

_OWN_OPTIONS = ("--enable-native-access=ALL-UNNAMED", "-Xrs", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-Xmx256m")
_KEPT_OPTIONS = ("-D", "-Xmx", "-Xss")
_OF_ONE_JVM = "-Dcom.sun.management."
"""JMX: its port is that of the JVM that drives Spark, and a second one that wants it ends."""
_RECORD = "kafka.consumer.BaseConsumerRecord"
_COUNTS = 6
_PART_BYTES = 8 << 20
_T = TypeVar("_T")


class JavaBatches:
    """Gives whole batches to a Java handler."""

    def __init__(
        self, settings: HandlerSettings, java: Path, compiler_jars: Sequence[str], told: ProgramExit | None = None
    ) -> None:
        """Start the JVM of this process and make the handler; raises HandlerFailure, HostError.

        `told` is called when a handler ends the program.
        """
        try:
            import jpype
        except ImportError:
            raise HostError(
                "a Java handler needs JPype in the copy task: pip install '/path/to/checkout[java]'"
            ) from None
        library = java.resolve().parent.parent / "lib" / "server" / "libjvm.so"
        jpype.startJVM(
            *_OWN_OPTIONS,
            *_kept(settings.java_options),
            jvmpath=str(library),
            classpath=[*settings.class_path, *compiler_jars],
            convertStrings=False,
            interrupt=False,
        )
        if told is not None:
            java_exit.watch(jpype, told)
        self._input = _Shared(jpype.nio.convertToDirectBuffer)
        try:
            self._run = _bridge(jpype, settings).run
        except jpype.JException as error:
            raise HandlerFailure(f"{settings.name} cannot be made: {_root(error)}") from None

    def handle(self, batch: Columns) -> Handled:
        """Call Java once for each part of the batch, and the user's method once for each record."""
        targets: list[Outgoing] = []
        ends: list[int] = []
        for part in _parts(batch):
            handled = _decoded(bytes(self._run(self._input.holding(_encoded(part)))), part)
            ends += [end + len(targets) for end in handled.ends]
            targets += handled.targets
            if handled.error is not None:
                return Handled(targets, ends, handled.error)
        return Handled(targets, ends)


class _Shared:
    """Memory that both sides see: to convert bytes into an array of Java's costs 2 us a record of 1 KB."""

    def __init__(self, for_java: Callable[[memoryview], Any]) -> None:
        self._for_java = for_java
        self._memory = memoryview(b"")
        self._buffer: Any = None

    def holding(self, data: bytes) -> Any:
        """Return Java's view, which begins with these bytes."""
        if len(data) > len(self._memory):
            self._memory = memoryview(bytearray(2 * len(data)))
            self._buffer = self._for_java(self._memory)
        self._memory[: len(data)] = data
        return self._buffer


def _kept(options: Iterable[str]) -> list[str]:
    """Select the user's options that are for this JVM too. A minimum heap is not: it may be larger than ours."""
    kept = (option for option in options if option.startswith(_KEPT_OPTIONS))
    return [option for option in kept if not option.startswith(_OF_ONE_JVM)]


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
    """Return the root cause, without the wrapping of reflection."""
    while (cause := error.getCause()) is not None:
        error = cause
    return str(error.toString())


def _parts(batch: Columns) -> Iterator[Columns]:
    """Yield parts that fit into Java's small heap."""
    sizes = [len(value or b"") for value in batch.values]
    begin = 0
    if sum(sizes) > _PART_BYTES:
        room = _PART_BYTES
        for number, size in enumerate(sizes):
            if size > room and number > begin:
                yield batch.part(begin, number)
                begin, room = number, _PART_BYTES
            room -= size
    yield batch.part(begin) if begin else batch


def _encoded(batch: Columns) -> bytes:
    topics = {name: number for number, name in enumerate(dict.fromkeys(batch.topics))}
    titles = [name.encode() for name in topics]
    pairs = list(chain.from_iterable(batch.headers))
    names, texts = [name.encode() for name, _ in pairs], [value for _, value in pairs]
    ints = [len(batch.topics), len(titles), len(pairs)]
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
        ints += column
    longs = pack(f"={2 * len(batch.topics)}q", *batch.offsets, *batch.timestamps)
    blobs = chain(titles, batch.keys, batch.values, names, texts)
    return b"".join((pack(f"={len(ints)}i", *ints), longs, *filter(None, blobs)))


def _sizes(blobs: Sequence[bytes | None]) -> list[int]:
    return [-1 if blob is None else len(blob) for blob in blobs]


def _decoded(data: bytes, batch: Columns) -> Handled:
    reading = _Reading(data)
    handled, count, topic_count, pair_count, error_size, left_out = reading.ints(_COUNTS)
    own = _own(ends := reading.ints(handled))
    topic_sizes, topic_numbers = reading.ints(topic_count), reading.ints(count)
    partitions = [None] * count if left_out & NO_PARTITIONS else _or_none(reading.ints(count))
    key_sizes = None if left_out & SAME_KEYS else reading.ints(count)
    value_sizes = None if left_out & SAME_VALUES else reading.ints(count)
    header_counts, name_sizes, text_sizes = (reading.ints(number) for number in (count, pair_count, pair_count))
    timestamps = own(batch.timestamps) if left_out & SAME_TIMESTAMPS else _or_none(reading.longs(count))
    topics = reading.texts(topic_sizes)
    keys = own(batch.keys) if key_sizes is None else reading.blobs(key_sizes)
    values = own(batch.values) if value_sizes is None else reading.blobs(value_sizes)
    pairs = list(zip(reading.texts(name_sizes), reading.blobs(text_sizes), strict=True))
    borders = pairwise(accumulate(header_counts, initial=0))
    headers = [tuple(pairs[begin:end]) for begin, end in borders] if pairs else repeat((), count)
    error = None if error_size < 0 else "".join(reading.texts([error_size]))
    names = map(topics.__getitem__, topic_numbers)
    return Handled(list(zip(names, keys, values, headers, partitions, timestamps, strict=True)), ends, error)


def _own(ends: Sequence[int]) -> Callable[[Sequence[_T]], Sequence[_T]]:
    """Return a function that gives each target its source record's value in a column."""
    if ends == tuple(range(1, len(ends) + 1)):
        return itemgetter(slice(len(ends)))
    sources = [number for number, (begin, end) in enumerate(pairwise((0, *ends))) for _ in range(begin, end)]
    return lambda column: [column[number] for number in sources]


def _or_none(numbers: Sequence[int]) -> list[int | None]:
    return [None if number < 0 else number for number in numbers]


class _Reading:
    """Goes through the bytes of an answer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def ints(self, count: int) -> tuple[int, ...]:
        """Read the next 32-bit numbers."""
        begin, self._at = self._at, self._at + 4 * count
        return unpack_from(f"={count}i", self._data, begin)

    def longs(self, count: int) -> tuple[int, ...]:
        """Read the next 64-bit numbers."""
        begin, self._at = self._at, self._at + 8 * count
        return unpack_from(f"={count}q", self._data, begin)

    def blobs(self, sizes: Sequence[int]) -> list[bytes | None]:
        """Read the next bytes, cut into these sizes."""
        found: list[bytes | None] = []
        for size in sizes:
            if size < 0:
                found.append(None)
            else:
                found.append(self._data[self._at : self._at + size])
                self._at += size
        return found

    def texts(self, sizes: Sequence[int]) -> list[str]:
        """Read the same as text; none is null."""
        return [blob.decode() for blob in self.blobs(sizes) if blob is not None]

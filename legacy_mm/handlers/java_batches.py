"""Handler jars: a JVM inside the copy task, and whole batches across its border. The door to JPype.

Order of a start: (1) the JVM, deaf to signals and with a small heap; (2) the bridge for the release whose record class
is on the class path, compiled ahead (`runtime/jvm/compile_ahead.py`) or now; (3) the user's object, made by the bridge:
JPype never sees it, for it would look at all its methods, also at those whose types are missing (0.9's
`MessageAndMetadata`).
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from struct import Struct, unpack
from typing import Any, NamedTuple

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import HandlerFailure, HostError
from legacy_mm.base.settings import HandlerSettings, JavaTransforms
from legacy_mm.handlers import java_exit
from legacy_mm.handlers.batches import BY_KEY, Handled, MadeRecords, SourceRecords
from legacy_mm.handlers.java_exit import ProgramExit
from legacy_mm.handlers.java_source import CLASS, ILLEGAL_TOPIC, STOPPED, TOLERATED, source, transform_source
from legacy_mm.policies.compiled_java import path_for
from legacy_mm.policies.topic_letters import why_no_topic

_SMALL = ("-XX:+UseSerialGC", "-Xms16m", "-XX:MaxNewSize=16m", "-Xmx256m")
_OWN_OPTIONS = ("--enable-native-access=ALL-UNNAMED", "-Xrs", *_SMALL)
_KEPT_OPTIONS = ("-D", "-Xmx", "-Xss")
_OF_ONE_JVM = "-Dcom.sun.management."
"""JMX: its port is that of the JVM that drives Spark, and a second one that wants it ends."""
_RECORD = "kafka.consumer.BaseConsumerRecord"
_TOLD = Struct("=3q8i")
_COUNTS = 7
_BY_KEYS = array("q", [BY_KEY])


_starting = threading.Lock()


def start(settings: HandlerSettings, java: Path, compiler_jars: Sequence[str]) -> Any:
    """Start the JVM of this process and load the bridge, unless that is done; raise HandlerFailure, HostError."""
    try:
        import jpype
    except ImportError:
        raise HostError("a Java handler needs JPype in the copy task: pip install '/path/to/checkout[java]'") from None
    with _starting:
        if not jpype.isJVMStarted():
            library = java.resolve().parent.parent / "lib" / "server" / "libjvm.so"
            jpype.startJVM(
                *_OWN_OPTIONS,
                *_kept(settings.java_options),
                jvmpath=str(library),
                classpath=[*settings.shared_path(), *compiler_jars],
                convertStrings=False,
                interrupt=False,
            )
        _bridge_class(jpype, of_connect=settings.transforms is not None)
    return jpype


class JavaBatches:
    """Gives whole batches to a Java handler."""

    def __init__(
        self,
        settings: HandlerSettings,
        java: Path,
        compiler_jars: Sequence[str],
        program_exit: ProgramExit | None = None,
        *,
        legal_topics: bool = False,
    ) -> None:
        """Start the JVM of this process and make the handler; raises HandlerFailure, HostError.

        `program_exit` is called when a handler ends the program; `legal_topics` as for `PythonBatches`.
        """
        jpype = start(settings, java, compiler_jars)
        self._stop_watching: Callable[[], None] = lambda: None
        if program_exit is not None:
            self._stop_watching = java_exit.watch(jpype, program_exit)
        self._input = _Shared(jpype.nio.convertToDirectBuffer)
        try:
            bridge = _bridge(jpype, settings, legal_topics)
        except jpype.JException as error:
            self._stop_watching()
            why = error.toString() if settings.transforms is not None else _root(error)
            raise HandlerFailure(f"{settings.name} cannot be made: {why}") from None
        self._run = bridge.run
        self._chain = None if settings.transforms is None else bridge

    def handle(self, source: SourceRecords) -> Handled:
        """Call Java once for each part of the batch, and the user's method once for each record."""
        handled = _Answers(source)
        while handled.goes_on:
            handled.add(bytes(self._run(self._input.holding(*handled.rest()))))
        return handled.result()

    def stop(self) -> None:
        """End a transform's wait before another try; from any thread, returns at once."""
        if self._chain is not None:
            self._chain.stop()

    def close(self) -> None:
        """Close transforms and predicates, as Connect does; a message handler is not told of the end."""
        self._stop_watching()
        if self._chain is not None:
            self._chain.close()


class _Shared:
    """Memory that both sides see: to convert bytes into an array of Java's costs 2 us a record of 1 KB."""

    def __init__(self, for_java: Callable[[memoryview], Any]) -> None:
        self._for_java = for_java
        self._memory = memoryview(b"")
        self._buffer: Any = None

    def holding(self, head: bytes, data: memoryview) -> Any:
        """Return Java's view, which begins with these bytes."""
        size = len(head) + len(data)
        if size > len(self._memory):
            self._memory = memoryview(bytearray(2 * size))
            self._buffer = self._for_java(self._memory)
        self._memory[: len(head)] = head
        self._memory[len(head) : size] = data
        return self._buffer


def _kept(options: Iterable[str]) -> list[str]:
    """Select the user's options that are for this JVM too. A minimum heap is not: it may be larger than ours."""
    kept = (option for option in options if option.startswith(_KEPT_OPTIONS))
    return [option for option in kept if not option.startswith(_OF_ONE_JVM)]


def _bridge(jpype: Any, settings: HandlerSettings, legal_topics: bool) -> Any:
    loader = jpype.JPackage("java").lang.ClassLoader.getSystemClassLoader()
    made = _bridge_class(jpype, of_connect=settings.transforms is not None)
    return made(settings.name, _argument(jpype, settings), legal_topics, loader)


def _argument(jpype: Any, settings: HandlerSettings) -> Any:
    if settings.transforms is None:
        return settings.argument
    return _in_java(jpype, settings.transforms, settings.plugin_paths())


def _in_java(jpype: Any, transforms: JavaTransforms, plugins: Sequence[Sequence[str]]) -> Any:
    """Return the two maps, and the jars of each plug-in, that `TransformChain.java` takes."""
    java = jpype.JPackage("java").util
    given = java.ArrayList()
    for pairs in (transforms.properties, transforms.names):
        found = java.HashMap()
        for name, text in pairs.items():
            found.put(jpype.JString(name), jpype.JString(text))
        given.add(found)
    paths = java.ArrayList()
    for plugin in plugins:
        jars = java.ArrayList()
        for jar in plugin:
            jars.add(jpype.JString(jar))
        paths.add(jars)
    given.add(paths)
    return given


@cache
def _bridge_class(jpype: Any, *, of_connect: bool) -> Any:
    java = jpype.JPackage("java").lang
    loader = java.ClassLoader.getSystemClassLoader()
    text = transform_source() if of_connect else _source_of_release(java, loader)
    if (ahead := path_for(text)).exists():
        urls = [jpype.JPackage("java").net.URI(ahead.as_uri()).toURL()]
        return jpype.JClass(jpype.JPackage("java").net.URLClassLoader(urls, loader).loadClass(CLASS))
    compiler = jpype.JClass("org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(loader)
    compiler.cook(text)
    return jpype.JClass(compiler.getClassLoader().loadClass(CLASS))


def _source_of_release(java: Any, loader: Any) -> str:
    record = java.Class.forName(_RECORD, True, loader)
    return source(max(constructor.getParameterCount() for constructor in record.getConstructors()))


def _root(error: Any) -> str:
    """Return the root cause, without the wrapping of reflection."""
    while (cause := error.getCause()) is not None:
        error = cause
    return str(error.toString())


class _Answers:
    """Java's answers for the parts of one batch."""

    def __init__(self, source: SourceRecords) -> None:
        self._source = source
        self._now = epoch_ms()
        self._at = 0
        self._offset = source.begin
        self._records = self._dropped = 0
        self._made: dict[str, list[_Part]] = {}
        self._error: str | None = None
        self._tolerated = self._stopped = False

    @property
    def goes_on(self) -> bool:
        """Return True if records are left, and none has failed."""
        return self._error is None and not self._stopped and self._at < len(self._source.data)

    def rest(self) -> tuple[bytes, memoryview]:
        """Return what Java is told of the records that are left, and these."""
        (topic, partition), header, data, begin, wish, kind = self._source
        name = topic.encode()
        first = _TOLD.size + len(name)
        longs = (header.base_offset, self._source.base_timestamp, self._now)
        ints = (partition, kind, wish, not header.has_append_time, len(name))
        rest = data[self._at :]
        return _TOLD.pack(*longs, first, first + len(rest), begin - header.base_offset, *ints) + name, rest

    def add(self, answer: bytes) -> None:
        """Take the answer for these."""
        reading = _Reading(answer)
        position, records, dropped, delta, topics, failure, size = reading.ints(_COUNTS)
        text = reading.take(size).tobytes().decode()
        self._at += position - _TOLD.size - len(self._source.place.topic.encode())
        self._records += records
        self._dropped += dropped
        for _ in range(topics):
            topic, part = _part_of(reading)
            self._made.setdefault(topic, []).append(part)
        self._offset = self._source.header.base_offset + delta
        self._stopped = failure == STOPPED
        if failure and not self._stopped:
            self._error = f"topic {text!r}: {why_no_topic(text)}" if failure == ILLEGAL_TOPIC else text
            self._tolerated = failure == TOLERATED

    def result(self) -> Handled:
        """Return what Java made of the batch."""
        header = self._source.header
        is_whole = self._error is None and not self._stopped
        next_offset = max(header.next_offset, self._source.begin) if is_whole else self._offset
        made = [self._joined(topic, parts) for topic, parts in self._made.items()]
        ends = {"tolerated": self._tolerated, "stopped": self._stopped}
        return Handled(made, self._records, self._dropped, next_offset, self._error, **ends)

    def _joined(self, topic: str, parts: Sequence[_Part]) -> MadeRecords:
        count = sum(part.records for part in parts)
        counted = (count, self._source.base_timestamp, max(part.newest for part in parts))
        wishes = None
        if any(part.wishes for part in parts):
            each = (part.wishes or (_BY_KEYS * part.records).tobytes() for part in parts)
            wishes = memoryview(b"".join(each)).cast("q")
        data = parts[0].data if len(parts) == 1 else memoryview(b"".join(part.data for part in parts))
        return MadeRecords.of(topic, self._source.header, data, counted, wishes)


class _Part(NamedTuple):
    """The records for one topic in one answer."""

    newest: int
    records: int
    wishes: memoryview | bytes
    """Empty if all are by key."""
    data: memoryview


def _part_of(reading: _Reading) -> tuple[str, _Part]:
    (size,) = reading.ints(1)
    topic = reading.take(size).tobytes().decode()
    newest = reading.long()
    count, size, wished = reading.ints(3)
    wishes = reading.take(_BY_KEYS.itemsize * count) if wished else b""
    return topic, _Part(newest, count, wishes, reading.take(size))


class _Reading:
    """Goes through the bytes of an answer."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def ints(self, count: int) -> tuple[int, ...]:
        """Read the next 32-bit numbers."""
        return unpack(f"<{count}i", self.take(4 * count))

    def long(self) -> int:
        """Read the next 64-bit number."""
        (found,) = unpack("<q", self.take(8))
        return int(found)

    def take(self, size: int) -> memoryview:
        """Return the next bytes."""
        begin, self._at = self._at, self._at + size
        return self._data[begin : self._at]

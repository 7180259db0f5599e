"""Classes out of the user's jars in the driver's JVM: looked at before a handler is made, made when they are listeners.

They have a class loader of their own, which sees the user's jars and Java itself, not Spark: the Kafka and Scala that
they were compiled for are not those of Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from legacy_mm.base.errors import HandlerFailure, StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.logs import events
from legacy_mm.policies.jar_contents import has_class
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.jars import LAST_CONNECT, LAST_MIRROR_MAKER, Release, jars_folder, kafka_jars

HANDLER = "kafka.tools.MirrorMaker$MirrorMakerMessageHandler"
TRANSFORMATION = "org.apache.kafka.connect.transforms.Transformation"
PREDICATE = "org.apache.kafka.connect.transforms.predicates.Predicate"
_OF_CONNECT = ("org.apache.kafka.connect.transforms.Filter", "org.apache.kafka.connect.converters.ByteArrayConverter")
"""A class of each jar of Connect that transforms need, and which need the others."""
LISTENER = "org.apache.kafka.clients.consumer.ConsumerRebalanceListener"
_NOT_FOUND = "java.lang.ClassNotFoundException: "
_ADVICE = (
    "Name its jar in CLASSPATH or --handler.classpath, or in LEGACY_MM_KAFKA_HOME the Kafka whose libs folder has it."
)
_PARTITION = "org.apache.kafka.common.TopicPartition"


def with_interface(class_path: Sequence[str], interface: str) -> tuple[str, ...]:
    """Return the class path and, if no jar of it has this interface, Kafka's own jars of the last release that had it.

    Raise HostError when they are needed and cannot be had.
    """
    return tuple(class_path) if has_class(class_path, interface) else _with_jars(class_path, LAST_MIRROR_MAKER)


def with_connect(class_path: Sequence[str]) -> tuple[str, ...]:
    """Return the class path and, unless it has Kafka Connect, Connect's own jars; raise HostError as above."""
    complete = all(has_class(class_path, name) for name in _OF_CONNECT)
    return tuple(class_path) if complete else _with_jars(class_path, LAST_CONNECT)


def _with_jars(class_path: Sequence[str], release: Release) -> tuple[str, ...]:
    if not (folder := jars_folder(release)).is_dir():
        events.emit(events.INTERFACES_FETCHED, version=release.version, folder=folder)
    return (*class_path, *map(str, sorted(kafka_jars(release).glob("*.jar"))))


def searched(class_path: Sequence[str]) -> list[str]:
    """Return the places of a class path for a message: a line's own entries, and how many jars of a folder."""
    missing = [f"{entry} (no such file)" for entry in class_path if not Path(entry).exists()]
    folders = [entry for entry in class_path if Path(entry).is_dir()]
    jars = [entry for entry in class_path if Path(entry).is_file()]
    beside: dict[Path, list[str]] = {}
    for jar in jars:
        beside.setdefault(Path(jar).parent, []).append(jar)
    named = [found[0] if len(found) == 1 else f"{len(found)} jars in {folder}" for folder, found in beside.items()]
    return [*missing, *folders, *named]


class JavaClasses:
    """The classes on a class path."""

    def __init__(self, jvm: Jvm, class_path: Sequence[str]) -> None:
        """Wait for the JVM; no class is loaded yet."""
        self._class_path = class_path
        self._gateway = jvm.connect()
        java = self._gateway.jvm.java
        urls = self._gateway.new_array(java.net.URL, len(class_path))
        for number, entry in enumerate(class_path):
            urls[number] = java.io.File(entry).toURI().toURL()
        self._java = java
        self._loader = java.net.URLClassLoader(urls, java.lang.ClassLoader.getPlatformClassLoader())

    def check(self, name: str, interface: str | None, *, with_argument: bool) -> None:
        """Raise HandlerFailure, in Java's words, for a class that is missing or that cannot be made by its interface,
        where one is looked at. Its code does not run.
        """
        try:
            found = self._constructor(name, with_argument=with_argument).getDeclaringClass()
            fits = interface is None or self._loader.loadClass(interface).isAssignableFrom(found)
        except Py4JJavaError as error:
            raise self._failure(error) from None
        if not fits:
            raise HandlerFailure(f"java.lang.ClassCastException: class {name} cannot be cast to class {interface}")

    def listener(self, name: str, argument: str | None) -> JavaListener:
        """Create a rebalance listener; raise HandlerFailure when that fails. Its type is checked when it is called,
        as in the legacy tool.
        """
        try:
            words = self._gateway.new_array(self._java.lang.Object, 0 if argument is None else 1)
            if argument is not None:
                words[0] = argument
            made = self._constructor(name, with_argument=argument is not None).newInstance(words)
            return JavaListener(made, self._loader.loadClass(LISTENER), self._loader.loadClass(_PARTITION), self)
        except Py4JJavaError as error:
            raise self._failure(error) from None

    def array(self, kind: str, items: Iterable[Any]) -> Any:
        """Create a Java array of classes (`Class`) or objects (`Object`)."""
        given = list(items)
        made = self._gateway.new_array(getattr(self._java.lang, kind), len(given))
        for number, item in enumerate(given):
            made[number] = item
        return made

    def collection(self, items: Iterable[Any]) -> Any:
        """Create a Java collection."""
        made = self._java.util.ArrayList()
        for item in items:
            made.add(item)
        return made

    def map(self, pairs: Mapping[str, Any]) -> Any:
        """Create a Java map; lists become Java's."""
        made = self._java.util.HashMap()
        for name, value in pairs.items():
            made.put(name, self.collection(value) if isinstance(value, list) else value)
        return made

    def loaded(self, name: str) -> Any:
        """Load a class on the class path."""
        return self._loader.loadClass(name)

    def new_instance(self, name: str) -> Any:
        """Create an object of a class, by its constructor without arguments."""
        return self._constructor(name, with_argument=False).newInstance(self.array("Object", ()))

    def login_entry(self, module: str, options: Any) -> Any:
        """Create JAAS's entry of a login module with its options."""
        login = self._gateway.jvm.javax.security.auth.login
        required = login.AppConfigurationEntry.LoginModuleControlFlag.REQUIRED
        return login.AppConfigurationEntry(module, required, options)

    def array_class(self, name: str) -> Any:
        """Return the class of arrays of a class of Java itself."""
        return self._java.lang.reflect.Array.newInstance(self.find(name), 0).getClass()

    def callbacks(self, items: Sequence[Any]) -> Any:
        """Create an array of JAAS callbacks."""
        made = self._gateway.new_array(self._gateway.jvm.javax.security.auth.callback.Callback, len(items))
        for number, item in enumerate(items):
            made[number] = item
        return made

    def call(self, method: Any, of: Any, arguments: Sequence[Any]) -> Any:
        """Call a method of an object; libraries of the user's jars find their parts by the loader of the thread."""
        self._java.lang.Thread.currentThread().setContextClassLoader(self._loader)
        return method.invoke(of, self.array("Object", arguments))

    def find(self, name: str) -> Any:
        """Return a class of Java itself, or the type `int`."""
        return self._java.lang.Integer.TYPE if name == "int" else self._java.lang.Class.forName(name)

    def _failure(self, error: Py4JJavaError) -> HandlerFailure:
        """Return the error in Java's words; a note says where a class that is missing was looked for."""
        failure = HandlerFailure(reason_of(error))
        if name := str(failure).removeprefix(_NOT_FOUND) if str(failure).startswith(_NOT_FOUND) else "":
            failure.add_note(f"{name} is in none of: {', '.join(searched(self._class_path)) or 'no place is named'}.")
            failure.add_note(_ADVICE)
        return failure

    def _constructor(self, name: str, *, with_argument: bool) -> Any:
        found = self._java.lang.Class.forName(name, False, self._loader)
        return found.getConstructor(self.array("Class", [self.find("java.lang.String")] if with_argument else ()))


class JavaListener:
    """A `ConsumerRebalanceListener` in the driver's JVM."""

    def __init__(self, listener: Any, interface: Any, partition: Any, classes: JavaClasses) -> None:
        self._listener = listener
        self._classes = classes
        self._interface = interface
        collection = classes.array("Class", [classes.find("java.util.Collection")])
        self._assigned = interface.getMethod("onPartitionsAssigned", collection)
        self._revoked = interface.getMethod("onPartitionsRevoked", collection)
        text_and_number = [classes.find("java.lang.String"), classes.find("int")]
        self._partition = partition.getConstructor(classes.array("Class", text_and_number))

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Call `onPartitionsAssigned`; raises HandlerFailure for what it throws."""
        self._call(self._assigned, partitions)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Call `onPartitionsRevoked`; raises HandlerFailure for what it throws."""
        self._call(self._revoked, partitions)

    def _call(self, method: Any, partitions: frozenset[TopicPartition]) -> None:
        array = self._classes.array
        if not self._interface.isInstance(self._listener):
            kind = self._listener.getClass().getName()
            raise HandlerFailure(f"java.lang.ClassCastException: class {kind} cannot be cast to class {LISTENER}")
        try:
            theirs = [self._partition.newInstance(array("Object", partition)) for partition in sorted(partitions)]
            method.invoke(self._listener, array("Object", [self._classes.collection(theirs)]))
        except Py4JJavaError as error:
            raise HandlerFailure(f"the rebalance listener failed: {reason_of(error)}") from None
        except (Py4JNetworkError, Py4JError, OSError) as error:
            raise StreamFailure("the Java process for Spark does not answer") from error


def reason_of(error: Py4JJavaError) -> str:
    """Return what really happened, without the wrapping of reflection."""
    return str(_cause(error).toString())


def kind_of(error: Py4JJavaError) -> str:
    """Return the class of what really happened."""
    return str(_cause(error).getClass().getName())


def _cause(error: Py4JJavaError) -> Any:
    cause = error.java_exception
    while (inner := cause.getCause()) is not None:
        cause = inner
    return cause

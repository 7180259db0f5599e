"""Message handlers, rebalance listeners and replication policies made ready, before a stream joins its group.

A handler is only checked in the driver, and made in the copy tasks. The others are made in the driver, once for all
streams.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import cast

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import HandlerSettings, JavaTransforms, ListenerSettings
from legacy_mm.clients.group.member import AssignmentListener
from legacy_mm.features.naming.flags import NamingSettings
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY, LEGACY
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.loader import (
    check_handler,
    check_python_listener,
    is_python,
    load_class,
    load_listener,
    needs_java,
    script_of,
)
from legacy_mm.policies.topic_naming import (
    DefaultReplicationPolicy,
    IdentityReplicationPolicy,
    LegacyReplicationPolicy,
    ReplicationPolicy,
)
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.java_classes import (
    HANDLER,
    LISTENER,
    PREDICATE,
    TRANSFORMATION,
    JavaClasses,
    with_connect,
    with_interface,
)
from legacy_mm.runtime.spark.shipping import UNPACKED, ShippedWork

_POLICIES: dict[str, type[ReplicationPolicy]] = {
    LEGACY: LegacyReplicationPolicy,
    IDENTITY: IdentityReplicationPolicy,
    DEFAULT: DefaultReplicationPolicy,
}


class OneAtATime:
    """Calls a listener on a thread of its own.

    Calls of several streams never overlap, and the membership's thread never calls the JVM.
    """

    def __init__(self, listener: AssignmentListener) -> None:
        self._listener = listener
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rebalance-listener")

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Call the listener and wait; raises HandlerFailure."""
        self._call(self._listener.assigned, partitions)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Call the listener and wait; raises HandlerFailure."""
        self._call(self._listener.revoked, partitions)

    def _call(self, method: Callable[[frozenset[TopicPartition]], None], partitions: frozenset[TopicPartition]) -> None:
        try:
            self._thread.submit(method, partitions).result()
        except HandlerFailure:
            raise
        except Exception as error:
            raise HandlerFailure(f"the rebalance listener failed: {type(error).__name__}: {error}") from error


def ready_handler(settings: HandlerSettings, jvm: Callable[[], Jvm]) -> HandlerSettings:
    """Return the settings with all jars that are needed; raises HandlerFailure for a handler that cannot be made."""
    if settings.transforms is not None:
        ready = with_jars(settings)
        _check_transforms(settings.transforms, JavaClasses(jvm(), ready.class_path))
        return ready
    if not settings.name and settings.steps:
        TopicSteps(settings.steps, jvm)
        return settings
    if is_python(settings.name, settings.class_path):
        check_handler(settings)
        return settings
    ready = with_jars(settings)
    JavaClasses(jvm(), ready.class_path).check(settings.name, HANDLER, with_argument=settings.argument is not None)
    return ready


def with_jars(settings: HandlerSettings) -> HandlerSettings:
    """Return the settings of a handler in Java with the jars that its code needs; raises HostError."""
    given = settings.class_path
    if settings.transforms is None:
        return replace(settings, class_path=with_interface(given, HANDLER))
    shared = settings.shared_path()
    return replace(settings, class_path=(*given, *with_connect(shared)[len(shared) :]))


def _check_transforms(transforms: JavaTransforms, classes: JavaClasses) -> None:
    for key, name in transforms.properties.items():
        if key.endswith(".type"):
            interface = TRANSFORMATION if key.startswith("transforms.") else PREDICATE
            try:
                classes.check(name, interface, with_argument=False)
            except HandlerFailure as error:
                failure = HandlerFailure(f"{key}={name}: {error}")
                for note in getattr(error, "__notes__", ()):
                    failure.add_note(note)
                raise failure from None


def shipment(settings: HandlerSettings) -> tuple[list[ShippedWork], dict[str, Path]]:
    """Return the content of the archive for workers with a handler: work, and name in it -> file or folder."""
    if not settings.name:
        return [], {}
    java = needs_java(settings)
    entries = with_jars(settings).class_path if java else settings.class_path
    code = {_place(entry, number): Path(entry) for number, entry in enumerate(entries)}
    if java:
        return ["java"], code
    modules = {place: path for place, path in code.items() if path.is_dir()}
    script = script_of(settings.name)
    return [], modules | ({_place(script): Path(script)} if script else {})


def on_workers(settings: HandlerSettings) -> HandlerSettings:
    """Return the settings of a ready handler with the paths that its code has in a worker's task."""
    name, places = settings.name, [_place(entry, number) for number, entry in enumerate(settings.class_path)]
    if script := script_of(name):
        name = name.replace(script, f"{UNPACKED}/{_place(script)}", 1)
    return replace(settings, name=name, class_path=[f"{UNPACKED}/{place}" for place in places])


def _place(path: str, number: int | None = None) -> str:
    folder = "handler" if number is None else f"handler/{number}"
    return f"{folder}/{Path(path).name}"


def make_listener(settings: ListenerSettings, jvm: Callable[[], Jvm]) -> AssignmentListener:
    """Return the listener; raises ConfigurationError (exit 1, as the legacy tool) if it cannot be made."""
    try:
        if is_python(settings.name, settings.class_path):
            return OneAtATime(load_listener(settings.name, settings.argument, settings.class_path))
        class_path = with_interface(settings.class_path, LISTENER)
        return OneAtATime(JavaClasses(jvm(), class_path).listener(settings.name, settings.argument))
    except HandlerFailure as error:
        raise _refused(error) from error


def check_listener(settings: ListenerSettings, jvm: Callable[[], Jvm]) -> None:
    """Raise ConfigurationError for a listener that could not be made; nothing is made."""
    try:
        if is_python(settings.name, settings.class_path):
            check_python_listener(settings)
        else:
            with_argument = settings.argument is not None
            classes = JavaClasses(jvm(), with_interface(settings.class_path, LISTENER))
            classes.check(settings.name, None, with_argument=with_argument)
    except HandlerFailure as error:
        raise _refused(error) from error


def _refused(error: HandlerFailure) -> ConfigurationError:
    refused = ConfigurationError(str(error))
    for note in getattr(error, "__notes__", ()):
        refused.add_note(note)
    return refused


def policy_of(naming: NamingSettings) -> ReplicationPolicy:
    """Return the replication policy, built in or the user's; raises ConfigurationError for one that cannot be made."""
    name = naming.policy
    try:
        found = _POLICIES.get(name) or cast(type[ReplicationPolicy], load_class(name, ReplicationPolicy))
    except HandlerFailure as error:
        raise ConfigurationError(f"replication.policy.class: {error}") from error
    if found.__abstractmethods__:
        raise ConfigurationError(
            f"replication.policy.class: {name} lacks {', '.join(sorted(found.__abstractmethods__))}"
        )
    try:
        policy = found(
            source_alias=naming.source_alias or None,
            separator=naming.separator,
            internal_separator=naming.internal_separator,
            compatibility=naming.compatibility,
        )
        policy.configure(naming.properties)
    except Exception as error:
        raise ConfigurationError(
            f"replication.policy.class: {name} cannot be made: {type(error).__name__}: {error}"
        ) from error
    return policy

"""From what the user wrote to an object: `module:Class`, a dotted name, a script `path.py[:name]`, or a Java class."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.base.settings import HandlerSettings, ListenerSettings
from legacy_mm.handlers.api import MessageHandler, RebalanceListener
from legacy_mm.handlers.batch_steps import BatchSteps, are_blind
from legacy_mm.handlers.batches import BatchHandler, PythonBatches
from legacy_mm.handlers.built_in import Steps, step

_SCRIPT = re.compile(r"(?P<path>.+\.py)(?::(?P<name>\w+))?")
_FUNCTION = "handle"


def script_of(name: str) -> str | None:
    """Return the path of the script that the name begins with, if it does."""
    found = _SCRIPT.fullmatch(name)
    return found and found["path"]


def is_python(name: str, class_path: Sequence[str] = ()) -> bool:
    """Return True if the name is Python's; everything else is a Java class."""
    if _SCRIPT.fullmatch(name) or ":" in name:
        return True
    package, dot, attribute = name.rpartition(".")
    if not dot:
        return False
    _extend_path(class_path)
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin is None:  # a folder of Java classes looks like a namespace package
        return False
    return _has(package, attribute)


def needs_java(settings: HandlerSettings) -> bool:
    """Return True if the copy process needs a JVM of its own for this handler."""
    return settings.transforms is not None or bool(settings.name and not is_python(settings.name, settings.class_path))


def _has(package: str, attribute: str) -> bool:
    """Tell if the module has it: Java packages share names with Python modules; Python reports a failing import."""
    try:
        return hasattr(importlib.import_module(package), attribute)
    except Exception:
        return True


def load_handler(
    settings: HandlerSettings, java: Callable[[HandlerSettings], BatchHandler], *, legal_topics: bool = False
) -> BatchHandler:
    """Load the handler of a copy job; `java` makes those that are Java classes. Raise HandlerFailure.

    `legal_topics` as for `PythonBatches`.
    """
    if not settings.name:
        steps = [step(text) for text in settings.steps]
        handle = steps[0].handle if len(steps) == 1 else Steps(steps).handle
        by_record = PythonBatches(handle, legal_topics=legal_topics)
        return BatchSteps(steps, by_record, legal_topics=legal_topics) if are_blind(steps) else by_record
    if not is_python(settings.name, settings.class_path):
        return java(settings)
    return PythonBatches(_python_handle(settings), legal_topics=legal_topics)


def check_handler(settings: HandlerSettings) -> None:
    """Raise HandlerFailure for a Python handler that could not be made; nothing is made."""
    _extend_path(settings.class_path)
    found = _find(settings.name, MessageHandler)
    if not _is_plain_function(found):
        _check(settings.name, found, MessageHandler, settings.argument)


def check_python_listener(settings: ListenerSettings) -> None:
    """Raise HandlerFailure for a Python listener that could not be made; nothing is made."""
    _listener_class(settings.name, settings.argument, settings.class_path)


def load_listener(name: str, argument: str | None, class_path: Sequence[str] = ()) -> RebalanceListener:
    """Load a rebalance listener written in Python. Raise HandlerFailure."""
    found = _listener_class(name, argument, class_path)
    made: RebalanceListener = _make(name, found, argument)
    return made


def _listener_class(name: str, argument: str | None, class_path: Sequence[str]) -> Any:
    _extend_path(class_path)
    found = _find(name, RebalanceListener)
    _check(name, found, RebalanceListener, argument)
    return found


def load_class(name: str, kind: type) -> Any:
    """Load a Python class of the user's that derives from `kind`. Raise HandlerFailure."""
    found = _find(name, kind)
    _check_kind(name, found, kind)
    return found


def _python_handle(settings: HandlerSettings) -> Callable[[Any], Any]:
    _extend_path(settings.class_path)
    found = _find(settings.name, MessageHandler)
    if _is_plain_function(found):
        function: Callable[[Any], Any] = found
        return function
    _check(settings.name, found, MessageHandler, settings.argument)
    handle: Callable[[Any], Any] = _make(settings.name, found, settings.argument).handle
    return handle


def _is_plain_function(named: Any) -> bool:
    return callable(named) and not isinstance(named, type)


def _make(name: str, named: Any, argument: str | None) -> Any:
    try:
        return named() if argument is None else named(argument)
    except Exception as error:
        raise HandlerFailure(f"{name} cannot be made: {type(error).__name__}: {error}") from error


def _find(name: str, kind: type) -> Any:
    """Find the class or function; raise HandlerFailure."""
    script = _SCRIPT.fullmatch(name)
    try:
        if script:
            module = _run_script(Path(script["path"]))
            return getattr(module, script["name"]) if script["name"] else _only(module, kind)
        package, _, attribute = name.partition(":") if ":" in name else name.rpartition(".")
        return getattr(importlib.import_module(package), attribute)
    except HandlerFailure:
        raise
    except Exception as error:
        raise HandlerFailure(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error


def _run_script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"legacy_mm_script_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python script")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def _only(module: ModuleType, kind: type) -> Any:
    """Return the class of this kind that the script defines, else its function `handle`."""
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    classes = [value for value in own if issubclass(value, kind)]
    if len(classes) == 1:
        return classes[0]
    if not classes and kind is MessageHandler and callable(function := getattr(module, _FUNCTION, None)):
        return function
    count = len(classes) or "no"
    raise HandlerFailure(f"{module.__file__} defines {count} {kind.__name__} classes: name one, as in path.py:Name")


def _check(name: str, named: Any, kind: type, argument: str | None) -> None:
    """Check type and constructor, with Java's words; raise HandlerFailure."""
    _check_kind(name, named, kind)
    try:
        inspect.signature(named).bind(*(() if argument is None else (argument,)))
    except TypeError as error:
        wanted = "no argument" if argument is None else "one argument"
        raise HandlerFailure(f"{name} has no constructor that takes {wanted}: {error}") from None


def _check_kind(name: str, named: Any, kind: type) -> None:
    if not (isinstance(named, type) and issubclass(named, kind)):
        raise HandlerFailure(f"{name} is no {kind.__name__} of {kind.__module__}")


def _extend_path(class_path: Sequence[str]) -> None:
    for entry in class_path:
        if entry not in sys.path and Path(entry).is_dir():
            sys.path.append(entry)

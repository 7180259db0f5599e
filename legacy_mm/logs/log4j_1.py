"""log4j 1: properties, and XML, which is turned into the same properties first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

from legacy_mm.logs.log4j_found import (
    FindVariable,
    Found,
    NotUnderstood,
    layout_of,
    level_named,
    size_of,
    substituted,
    whole,
)
from legacy_mm.logs.log_settings import ALL, DEBUG, Appender, Console, Layout, LogFile, LoggerSettings, LogSettings

_APPENDER = "log4j.appender."
_LOGGER_PREFIXES = ("log4j.logger.", "log4j.category.")
_ROOTS = ("log4j.rootLogger", "log4j.rootCategory")
_ADDITIVITY = "log4j.additivity."
_TEN_MEGABYTES = 10 << 20
Options = Mapping[str, str]
"""Options of one appender, names in lower case."""


def is_version1(properties: Mapping[str, str]) -> bool:
    """Return True for properties of this generation."""
    return any(name.startswith("log4j.") for name in properties)


def read_properties(properties: Mapping[str, str], find: FindVariable) -> Found:
    """Read the settings of a properties file."""
    resolved = {name.strip(): substituted(text, find) for name, text in properties.items()}
    loggers = dict(_loggers(resolved))
    if "" not in loggers:
        if not any(logger.appenders for logger in loggers.values()):
            raise NotUnderstood("it has no log4j.rootLogger, and no other logger with an appender")
        loggers[""] = LoggerSettings(DEBUG)  # as log4j makes it
    problems: list[str] = []
    appenders: dict[str, Appender] = {}
    floor = level_named(resolved.get("log4j.threshold", "")) or ALL
    for name in dict.fromkeys(name for logger in loggers.values() for name in logger.appenders):
        if (appender := _appender(name, resolved, problems)) is not None:
            appenders[name] = replace(appender, threshold=max(floor, appender.threshold))
    return Found(LogSettings(loggers, appenders), tuple(problems))


def read_xml(root: Element, find: FindVariable) -> Found:
    """Read the settings of an XML file."""
    return read_properties(dict(_flat(root)), find)


def _loggers(properties: Mapping[str, str]) -> Iterator[tuple[str, LoggerSettings]]:
    for key, text in properties.items():
        prefix = next((prefix for prefix in _LOGGER_PREFIXES if key.startswith(prefix)), None)
        name = "" if key in _ROOTS else key.removeprefix(prefix) if prefix else None
        if name is None:
            continue
        level, *appenders = (word.strip() for word in text.split(","))
        additive = properties.get(_ADDITIVITY + name, "true").strip().lower() != "false"
        named = tuple(each for appender in appenders if appender for each in _behind(appender, properties))
        yield name, LoggerSettings(level_named(level), named, additive)


def _behind(name: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the appenders to which one forwards (AsyncAppender), or itself."""
    handed_on = properties.get(f"{_APPENDER}{name}.appender-ref", "")
    return tuple(handed_on.split(",")) if handed_on else (name,)


def _appender(name: str, properties: Mapping[str, str], problems: list[str]) -> Appender | None:
    prefix = f"{_APPENDER}{name}"
    class_name = properties.get(prefix, "").strip()
    options = {
        key.removeprefix(prefix + ".").lower(): text for key, text in properties.items() if key.startswith(prefix + ".")
    }
    kind = class_name.rpartition(".")[2]
    if kind == "NullAppender":
        return Appender(name, None)
    make = _TARGETS.get(kind)
    target = make(options) if make else None
    if target is None or (isinstance(target, LogFile) and not target.path):
        why = "names no file" if make else f"({class_name or 'without a class'}) is not supported"
        problems.append(f"Log appender {name} {why}: it is left out")
        return None
    lacking = [f"filter {text}" for key, text in options.items() if key.startswith("filter.") and key.count(".") == 1]
    layout_class = options.get("layout", "").strip()
    layout = layout_of(layout_class, options.get("layout.conversionpattern"))
    if layout is None and layout_class:
        lacking.append(f"layout {layout_class}")
    if lacking:
        problems.append(f"Log appender {name}: {', '.join(lacking)} is not supported, the rest of it is honoured")
    threshold = level_named(options.get("threshold", "")) or ALL
    return Appender(name, target, layout or Layout(), threshold)


def _console(options: Options) -> Console:
    return Console("stderr" if options.get("target", "").strip().lower().endswith("err") else "stdout")


def _file(options: Options) -> LogFile:
    append = options.get("append", "true").strip().lower() != "false"
    return LogFile(options.get("file", "").strip(), append)


def _rolled_by_size(options: Options) -> LogFile:
    if "rollingpolicy" in options:  # of log4j's extras
        return _rolled_by_policy(options)
    size = size_of(options.get("maxfilesize", ""), _TEN_MEGABYTES)
    return replace(_file(options), max_bytes=size, backups=whole(options.get("maxbackupindex", ""), 1))


def _rolled_by_date(options: Options) -> LogFile:
    file = _file(options)
    pattern = options.get("datepattern", "'.'yyyy-MM-dd").strip()
    return replace(file, dated=True, rolled=f"{file.path}%d{{{pattern}}}")


def _rolled_by_policy(options: Options) -> LogFile:
    rolled = options.get("rollingpolicy.filenamepattern", "").strip()
    active = options.get("rollingpolicy.activefilename", options.get("file", "")).strip()
    return replace(_file(options), path=active, dated=True, rolled=rolled or f"{active}.%d")


_TARGETS: Mapping[str, Callable[[Options], Console | LogFile]] = {
    "ConsoleAppender": _console,
    "FileAppender": _file,
    "RollingFileAppender": _rolled_by_size,
    "DailyRollingFileAppender": _rolled_by_date,
}


def _flat(root: Element) -> Iterator[tuple[str, str]]:
    """Yield the properties that are equivalent to the XML."""
    if threshold := root.get("threshold", "null"):
        yield "log4j.threshold", threshold
    for appender in root.iter("appender"):
        prefix = _APPENDER + appender.get("name", "")
        yield prefix, appender.get("class", "")
        yield from _params(prefix, appender)
        references = [each.get("ref", "") for each in appender.iter("appender-ref")]
        if references:
            yield f"{prefix}.appender-ref", ",".join(references)
        for tag in ("layout", "rollingPolicy"):
            for part in appender.iter(tag):
                yield f"{prefix}.{tag}", part.get("class", "")
                yield from _params(f"{prefix}.{tag}", part)
        for number, part in enumerate(appender.iter("filter")):
            yield f"{prefix}.filter.{number}", part.get("class", "")
    for logger in (each for each in root if each.tag in ("root", "logger", "category")):
        name = logger.get("name", "")
        key = _ROOTS[0] if logger.tag == "root" else _LOGGER_PREFIXES[0] + name
        levels = [part.get("value", "") for part in logger if part.tag in ("level", "priority")]
        references = [part.get("ref", "") for part in logger.iter("appender-ref")]
        yield key, ",".join([levels[0] if levels else "", *references])
        yield _ADDITIVITY + name, logger.get("additivity", "true")


def _params(prefix: str, element: Element) -> Iterator[tuple[str, str]]:
    for param in element:
        if param.tag == "param":
            yield f"{prefix}.{param.get('name', '')}", param.get("value", "")

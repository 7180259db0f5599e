"""log4j 2: properties, XML and JSON all become one tree of components, which this module reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
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
from legacy_mm.logs.log_settings import ALL, ERROR, Appender, Console, Layout, LogFile, LoggerSettings, LogSettings

_TEN_MEGABYTES = 10 << 20
_SEVEN = 7
"""Rolled files that log4j 2 keeps by default."""


@dataclass(frozen=True, slots=True)
class Component:
    """An element: its type and attributes in lower case, because log4j ignores case, and its parts."""

    kind: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Component, ...] = ()

    def children(self, *kinds: str) -> list[Component]:
        """Return the parts of these kinds."""
        return [part for part in self.parts if part.kind in kinds]

    def below(self) -> Iterator[Component]:
        """Yield everything inside."""
        for part in self.parts:
            yield part
            yield from part.below()


def from_xml(element: Element) -> Component:
    """Return the tree of an XML file."""
    attributes = {name.lower(): text for name, text in element.attrib.items()}
    if text := (element.text or "").strip():
        attributes.setdefault("value", text)
    kind = element.tag.rpartition("}")[2].lower()
    if kind in ("appender", "layout", "filter") and "type" in attributes:  # the strict form
        kind = attributes["type"].lower()
    return Component(kind, attributes, tuple(from_xml(part) for part in element))


def from_mapping(kind: str, mapping: Mapping[str, Any]) -> Component:
    """Return the tree of a JSON file; a list is several parts of one kind."""
    attributes: dict[str, str] = {}
    parts: list[Component] = []
    for name, value in mapping.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Mapping):
                parts.append(from_mapping(name, each))
            else:
                attributes[name.lower()] = str(each).lower() if isinstance(each, bool) else str(each)
    return Component(attributes.get("type", kind).lower(), attributes, tuple(parts))


def from_properties(properties: Mapping[str, str]) -> Component:
    """Return the tree of a properties file, whose dotted names are paths."""
    nested: dict[str, Any] = {}
    for name, text in properties.items():
        here = nested
        for step in name.strip().split("."):
            here = here.setdefault(step, {})
        here[""] = text
    own = {name: text for name, text in properties.items() if name.startswith("property.")}
    loggers = [_logger(each) for each in nested.get("logger", {}).values() if isinstance(each, dict)]
    root = [replace(_logger(nested["rootLogger"]), kind="root")] if "rootLogger" in nested else []
    return Component(
        "configuration",
        parts=(
            Component("properties", parts=tuple(_property(name, text) for name, text in own.items())),
            Component("appenders", parts=_typed("appender", nested.get("appender", {}))),
            Component("loggers", parts=(*root, *loggers)),
        ),
    )


def _property(name: str, text: str) -> Component:
    return Component("property", {"name": name.removeprefix("property."), "value": text})


def _typed(kind: str, named: Mapping[str, Any]) -> tuple[Component, ...]:
    """Return the parts of `appender.x.type=Console` and the like, whose names have no meaning."""
    made = []
    for name, inner in named.items():
        if name == "" or not isinstance(inner, Mapping):
            continue
        attributes = {key.lower(): value[""] for key, value in inner.items() if key and "" in value}
        parts = tuple(
            part
            for key, value in inner.items()
            if key and "" not in value
            for part in (_typed(key, {key: value}) if "type" in value else _typed(key, value))
        )
        made.append(Component(attributes.get("type", kind).lower(), attributes, parts))
    return tuple(made)


def _logger(named: Mapping[str, Any]) -> Component:
    (component,) = _typed("logger", {"logger": named}) or (Component("logger"),)
    if "" not in named:
        return component
    level, *references = (word.strip() for word in named[""].split(","))  # rootLogger = INFO, console
    attributes = {**component.attributes, "level": level}
    return Component("logger", attributes, tuple(Component("appenderref", {"ref": each}) for each in references))


def read(configuration: Component, find: Callable[[Mapping[str, str]], FindVariable]) -> Found:
    """Read the settings of a tree; `find` makes the look-up from the file's own properties."""
    if configuration.kind != "configuration":
        raise NotUnderstood(f"it begins with {configuration.kind}")
    own = {
        each.attributes.get("name", ""): each.attributes.get("value", "")
        for properties in configuration.children("properties")
        for each in properties.children("property")
    }
    resolved = _resolved(configuration, find(own))
    loggers = dict(_loggers(resolved))
    if "" not in loggers:
        raise NotUnderstood("it has no root logger")
    problems: list[str] = []
    made = [_appender(each, problems) for group in resolved.children("appenders") for each in group.parts]
    return Found(LogSettings(loggers, {each.name: each for each in made if each}), tuple(problems))


def _resolved(component: Component, find: FindVariable) -> Component:
    # $${date:...} is resolved late by log4j 2: at each roll-over
    attributes = {name: substituted(text.replace("$${", "${"), find) for name, text in component.attributes.items()}
    return Component(component.kind, attributes, tuple(_resolved(part, find) for part in component.parts))


def _loggers(configuration: Component) -> Iterator[tuple[str, LoggerSettings]]:
    behind = {
        appender.attributes.get("name", ""): _references(appender)
        for group in configuration.children("appenders")
        for appender in group.children("async")
    }
    for logger in (each for group in configuration.children("loggers") for each in group.parts):
        is_root = logger.kind in ("root", "asyncroot")
        level = level_named(logger.attributes.get("level", ""))
        named = tuple(each for name in _references(logger) for each in behind.get(name, (name,)))
        additive = logger.attributes.get("additivity", "true").lower() != "false"
        name = "" if is_root else logger.attributes.get("name", "")
        yield name, LoggerSettings(ERROR if is_root and level is None else level, named, additive)


def _references(component: Component) -> tuple[str, ...]:
    return tuple(each.attributes.get("ref", "") for each in component.children("appenderref"))


def _appender(component: Component, problems: list[str]) -> Appender | None:
    name = component.attributes.get("name", "")
    if component.kind == "async":
        return None
    if component.kind == "null":
        return Appender(name, None)
    make = _TARGETS.get(component.kind)
    target = make(component) if make else None
    if target is None or (isinstance(target, LogFile) and not target.path):
        why = "names no file" if make else f"({component.kind}) is not supported"
        problems.append(f"Log appender {name} {why}: it is left out")
        return None
    filters = [each for each in component.below() if each.kind.endswith("filter")]
    lacking = [f"filter {each.kind}" for each in filters if each.kind != "thresholdfilter"]
    thresholds = [level_named(each.attributes.get("level", "")) for each in filters if each.kind == "thresholdfilter"]
    layout = _layout(component, lacking)
    if lacking:
        problems.append(f"Log appender {name}: {', '.join(lacking)} is not supported, the rest of it is honoured")
    return Appender(name, target, layout, max((level for level in thresholds if level), default=ALL))


def _layout(component: Component, lacking: list[str]) -> Layout:
    for part in component.parts:
        if part.kind.endswith("layout"):
            nested = [each.attributes.get("value") for each in part.children("pattern")]
            pattern = part.attributes.get("pattern", nested[0] if nested else None)
            layout = layout_of(part.kind, _iso_with_t(pattern) if pattern else None)
            if layout is not None:
                return layout
            lacking.append(part.kind)
            return Layout()
    return Layout("%m%n")


def _iso_with_t(pattern: str) -> str:
    """Put a T into ISO8601: log4j 2 has one there, log4j 1 a blank."""
    return pattern.replace("{ISO8601}", "{yyyy-MM-dd'T'HH:mm:ss,SSS}")


def _console(component: Component) -> Console:
    return Console("stderr" if component.attributes.get("target", "").upper() == "SYSTEM_ERR" else "stdout")


def _file(component: Component) -> LogFile:
    append = component.attributes.get("append", "true").lower() != "false"
    return LogFile(component.attributes.get("filename", "").strip(), append)


def _rolling(component: Component) -> LogFile:
    inside = {each.kind: each.attributes for each in component.below()}
    kept = whole(inside.get("defaultrolloverstrategy", {}).get("max", ""), _SEVEN)
    file = replace(_file(component), rolled=component.attributes.get("filepattern", "").strip(), backups=kept)
    if (size := inside.get("sizebasedtriggeringpolicy")) is not None:
        return replace(file, max_bytes=size_of(size.get("size", ""), _TEN_MEGABYTES))
    return replace(file, dated=True)


_TARGETS: Mapping[str, Callable[[Component], Console | LogFile]] = {
    "console": _console,
    "file": _file,
    "randomaccessfile": _file,
    "memorymappedfile": _file,
    "rollingfile": _rolling,
    "rollingrandomaccessfile": _rolling,
}

"""Transforms of a connector that only Java can run: classes of the user's jars, and others of Kafka Connect.

One of them, or a predicate, makes the whole chain run in Java, so that each sees what the one before made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import JavaTransforms
from legacy_mm.handlers.transforms import Transform
from legacy_mm.policies.jar_contents import has_class, plugins_called
from legacy_mm.runtime.jvm.java_classes import PREDICATE, TRANSFORMATION, searched
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.transform_properties import FAMILIES, connect_class, is_step

_CONVERTERS = ("key.converter", "value.converter", "header.converter")
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
_INTERFACES = {"transforms": TRANSFORMATION, "predicates": PREDICATE}
_OF_CONNECT = "org.apache.kafka.connect."
_ALIAS, _NAME, _PLUGINS = "source.cluster.alias", "name", "plugin.path"
_ERRORS = (
    "errors.tolerance",
    "errors.retry.timeout",
    "errors.retry.delay.max.ms",
    "errors.log.enable",
    "errors.log.include.messages",
)


def java_transforms(
    reading: FlowReading, class_path: Sequence[str], plugins: Sequence[int] = ()
) -> JavaTransforms | None:
    """Return the transforms of a flow for Java; None if steps can be made of all of them.

    `plugins` as in the result. Raise ConfigurationError, by key and class, for a class that no jar has.
    """
    if all(is_step(each) for each in reading.transforms):
        return None
    given = reading.properties["source"]
    found = {
        "transforms": ",".join(each.name for each in reading.transforms),
        _ALIAS: reading.text("source", _ALIAS),
        _NAME: f"{reading.text('source', _NAME)}-0",
        **{key: str(reading.value("source", key)) for key in _ERRORS},
    }
    for family, name, kind in _classes(reading.transforms):
        prefix = f"{family}.{name}."
        found |= {key: text for key, text in given.items() if key.startswith(prefix)}
        found[f"{prefix}type"] = _whole(reading, class_path, family, name, kind)
    for key in _CONVERTERS:
        found |= _converter(key, given, reading.worker)
    return JavaTransforms(found, plugins=plugins)


def plugin_jars(reading: FlowReading) -> list[list[str]]:
    """Return the jars of each plug-in of the worker's `plugin.path`: a jar, or a folder with all below it."""
    places = (each.strip() for each in reading.worker.get(_PLUGINS, "").split(","))
    found = (_jars(plugin) for place in places if place for plugin in _plugins(Path(place).absolute()))
    return [jars for jars in found if jars]


def _plugins(place: Path) -> list[Path]:
    return sorted(place.iterdir()) if place.is_dir() else [place]


def _jars(plugin: Path) -> list[str]:
    return [*map(str, sorted(plugin.rglob("*.jar")))] if plugin.is_dir() else [str(plugin)] * (plugin.suffix == ".jar")


def _whole(reading: FlowReading, class_path: Sequence[str], family: str, name: str, kind: str) -> str:
    """Return the whole name of a class; raise ConfigurationError, by key and class, for one that no jar has."""
    whole, key = connect_class(family, kind), f"{reading.pair.prefix}{family}.{name}.type={kind}"
    if whole.startswith(_OF_CONNECT) or has_class(class_path, whole):
        return whole
    called = [] if "." in kind else plugins_called(class_path, kind, _INTERFACES[family])
    if len(called) == 1:
        return called[0]
    if called:
        raise ConfigurationError(
            f"{key} is not possible, because it may be {' or '.join(called)}, as in Connect; name one of them"
        )
    places = ", ".join(searched(class_path)) or "no place is named"
    raise ConfigurationError(
        f"{key} is not possible, because no jar has this class ({places}); name its jar in CLASSPATH, "
        "--handler.classpath or plugin.path, or take it out of the list if records may be copied without it (without a "
        f"jar: {', '.join(FAMILIES[family])})"
    )


def _classes(transforms: Sequence[Transform]) -> Iterator[tuple[str, str, str]]:
    """Yield family, name and class of each transform and of its predicate."""
    for each in transforms:
        yield "transforms", each.name, each.type
        if each.predicate is not None:
            yield "predicates", each.predicate.name, each.predicate.type


def _converter(key: str, connector: Mapping[str, str], worker: Mapping[str, str]) -> dict[str, str]:
    """Return a converter and its properties: the connector's, else the worker's."""
    given = connector if connector.get(key, "").strip() else worker
    found = {name: text for name, text in given.items() if name.startswith(f"{key}.")}
    return {**found, key: given.get(key, "").strip() or _BYTES}

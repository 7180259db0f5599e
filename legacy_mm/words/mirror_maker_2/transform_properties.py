"""Single message transforms in a connector's properties, read as Kafka Connect reads them, as steps of a handler.

Source: ConnectorConfig and the transforms of Kafka 3.9.1 and 4.3.0, asked by tests/brokers/test_transforms.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.handlers.transforms import Predicate, Transform, route_by_time, written
from legacy_mm.policies import connect_literals
from legacy_mm.words.mirror_maker_2.connector_properties import java_boolean

_PACKAGES = {
    "transforms": "org.apache.kafka.connect.transforms.",
    "predicates": "org.apache.kafka.connect.transforms.predicates.",
}
KEYS: Mapping[str, Mapping[str, Mapping[str, str | None]]] = {
    "transforms": {
        "DropHeaders": {"headers": None},
        "Filter": {},
        "InsertHeader": {"header": None, "value.literal": None},
        "RegexRouter": {"regex": None, "replacement": None},
        "TimestampRouter": {"topic.format": "${topic}-${timestamp}", "timestamp.format": "yyyyMMdd"},
    },
    "predicates": {
        "HasHeaderKey": {"name": None},
        "RecordIsTombstone": {},
        "TopicNameMatches": {"pattern": None},
    },
}
"""Class -> its keys, and their defaults; None: Connect refuses the connector without it."""
FAMILIES: Mapping[str, tuple[str, ...]] = {family: tuple(kinds) for family, kinds in KEYS.items()}
"""`transforms` and `predicates` -> their classes that are steps here."""
_OTHER_SHORT = "transforms", "ValueToKey"
"""The only other class of Connect's own that has a short name: those of `$Key` and `$Value` are several classes."""
_MAY_NOT_BE_EMPTY = ("name", "pattern")
_FILTERING = ("Filter", "RegexRouter", "TimestampRouter")
_BYTES, _TEXT = "ByteArrayConverter", ("SimpleHeaderConverter", "StringConverter")


_PACKAGE = "org.apache.kafka.connect.storage."


class ConnectorRefused(Exception):  # noqa: N818 - the connector is, as by Connect
    """Why Connect refuses a connector: a sentence, the property that it is about, and Connect's own words."""

    def __init__(self, why: str, name: str, said: str = "") -> None:
        """Take the words of Connect; without them it says nothing before the connector starts."""
        super().__init__(why)
        self.name = name
        self.said = said or why


def read(properties: Mapping[str, str]) -> tuple[Transform, ...]:
    """Return the transforms of a connector in their order; raise ConnectorRefused where Connect does not start it.

    A class that is not of these keeps its whole name as its type.
    """
    predicates = {name: _predicate(properties, name) for name in _aliases(properties, "predicates")}
    return tuple(_transform(properties, name, predicates) for name in _aliases(properties, "transforms"))


def refusal(properties: Mapping[str, str]) -> str:
    """Return why Connect refuses the connector for its transforms; empty if it does not."""
    return next((str(each) for each in refusals(properties)), "")


def refusals(properties: Mapping[str, str]) -> Iterator[ConnectorRefused]:
    """Yield what Connect says against the transforms and predicates, a property after the other."""
    for family in FAMILIES:
        try:
            names: Sequence[str] = _aliases(properties, family)
        except ConnectorRefused as error:
            yield error
            names = tuple(dict.fromkeys(_listed(properties, family)))
        for name in names:
            yield from _refusals_of(properties, family, name)


def _refusals_of(properties: Mapping[str, str], family: str, name: str) -> Iterator[ConnectorRefused]:
    """Yield what Connect says against one alias of a family."""
    try:
        kind = _type(properties, family, name)
        if family == "transforms":
            _condition(properties, name, _listed(properties, "predicates"))
    except ConnectorRefused as error:
        yield error
        return
    for key, default in KEYS[family].get(kind, {}).items():
        try:
            _setting(properties, f"{family}.{name}.{key}", default)
        except ConnectorRefused as error:
            yield error


def steps(transforms: Sequence[Transform], converter: str, flow: str) -> tuple[str, ...]:
    """Return the steps of a handler for transforms that are steps (`is_step`).

    `converter` is the class with which Connect would write headers.

    Raise ConfigurationError, which names the key and begins with `flow`, for what cannot be run here.
    """
    try:
        for number, each in enumerate(transforms):
            _check(each, transforms[:number])
        return tuple(written(replace(each, settings=_settings(each, converter))) for each in transforms)
    except ValueError as error:
        raise ConfigurationError(f"{flow}{error}") from None


def filters(transforms: Sequence[Transform]) -> bool:
    """Return True if the list says that a record may stay away from the topic that the replication policy names.

    A class of a jar says nothing of it, and is taken for one that leaves names and records where they are.
    """
    return any(each.type in _FILTERING for each in transforms)


def is_step(transform: Transform) -> bool:
    """Return True for a transform that runs as a step, without Java."""
    predicate = transform.predicate
    known = predicate is None or predicate.type in KEYS["predicates"]
    return known and transform.type in KEYS["transforms"]


def connect_class(family: str, kind: str) -> str:
    """Return the whole name of a class, as Connect has it."""
    is_known = kind in KEYS[family] or (family, kind) == _OTHER_SHORT
    return f"{_PACKAGES[family]}{kind}" if is_known else kind


def sentence(transform: Transform) -> str:
    """Return what the file says of a transform, in one line."""
    predicate = transform.predicate
    if predicate is None:
        return _called(transform)
    return f"{_called(transform)}, {'unless' if transform.negate else 'if'} {_called(predicate)}"


def _called(what: Transform | Predicate) -> str:
    settings = (
        f"{key}={', '.join(value) if isinstance(value, list) else value}" for key, value in what.settings.items()
    )
    return " ".join([what.type, *settings])


def _aliases(properties: Mapping[str, str], family: str) -> list[str]:
    found = _listed(properties, family)
    if len(found) > len(set(found)):
        said = f"Invalid value [{', '.join(found)}] for configuration {family}: Duplicate alias provided."
        raise ConnectorRefused(f"{family}={properties[family].strip()} has an alias twice", family, said)
    return found


def _listed(properties: Mapping[str, str], family: str) -> list[str]:
    text = properties.get(family, "").strip()
    return [name.strip() for name in text.split(",")] if text else []


def _transform(properties: Mapping[str, str], name: str, predicates: Mapping[str, Predicate]) -> Transform:
    kind = _type(properties, "transforms", name)
    named, negate = _condition(properties, name, predicates)
    predicate = None if named is None else predicates[named]
    return Transform(name, kind, _given(properties, "transforms", name, kind), predicate, negate)


def _condition(properties: Mapping[str, str], name: str, predicates: Collection[str]) -> tuple[str | None, bool]:
    """Return the alias of a transform's predicate, and True if it is the other way round."""
    prefix = f"transforms.{name}."
    named, negate = properties.get(f"{prefix}predicate"), properties.get(f"{prefix}negate")
    if negate is not None and named is None:
        raise ConnectorRefused(
            f"{prefix}negate is there without {prefix}predicate",
            f"{prefix}type",
            f"Config '{prefix}negate' was provided but there is no config '{prefix}predicate' defining a predicate to "
            "be negated.",
        )
    if negate is not None and negate.strip().lower() not in ("true", "false"):
        raise ConnectorRefused(
            f"{prefix}negate={negate!r} not a boolean",
            f"{prefix}negate",
            f"Invalid value {negate} for configuration {prefix}negate: Expected value to be either true or false",
        )
    if named is not None and named not in predicates:
        raise ConnectorRefused(f"{prefix}predicate={named!r} is not in predicates", f"{prefix}predicate")
    return named, java_boolean(negate)


def _predicate(properties: Mapping[str, str], name: str) -> Predicate:
    kind = _type(properties, "predicates", name)
    return Predicate(name, kind, _given(properties, "predicates", name, kind))


def _type(properties: Mapping[str, str], family: str, name: str) -> str:
    key = f"{family}.{name}.type"
    class_name = properties.get(key, "").strip()
    if not class_name:
        raise _missing(key)
    kind = class_name.removeprefix(_PACKAGES[family])
    return kind if kind in KEYS[family] else class_name


def _missing(key: str) -> ConnectorRefused:
    return ConnectorRefused(
        f"{key} is missing", key, f'Missing required configuration "{key}" which has no default value.'
    )


def _given(properties: Mapping[str, str], family: str, name: str, kind: str) -> dict[str, Any]:
    """Return the settings of a class that is known, trimmed; none of another one."""
    return {
        key: _setting(properties, f"{family}.{name}.{key}", default)
        for key, default in KEYS[family].get(kind, {}).items()
    }


def _setting(properties: Mapping[str, str], whole: str, default: str | None) -> str | list[str]:
    key = whole.rpartition(".")[2]
    text = properties.get(whole, default)
    if text is None:
        raise _missing(whole)
    found = text.strip()
    if key == "headers":
        headers = [each.strip() for each in found.split(",")]
        if headers == [""]:
            said = f"Configuration '{key}' must not be empty. Valid values include: any non-empty value"
            raise ConnectorRefused(f"{whole} is empty", whole, said)
        return headers
    if key in _MAY_NOT_BE_EMPTY and not found:
        said = f"Invalid value  for configuration {key}: String must be non-empty"
        raise ConnectorRefused(f"{whole} is empty", whole, said)
    return found


def _check(transform: Transform, before: Sequence[Transform]) -> None:
    """Raise ValueError for a transform that cannot be run here; `before` are those that act before it."""
    key = f"transforms.{transform.name}"
    predicate = transform.predicate
    by_name = transform.type == "RegexRouter" or (predicate is not None and predicate.type == "TopicNameMatches")
    if by_name and (router := next((each for each in before if each.type == "TimestampRouter"), None)):
        raise ValueError(
            f"{key} is not possible behind transforms.{router.name}: names that a TimestampRouter makes are not known "
            "beforehand; let it be the last one"
        )


def _settings(transform: Transform, converter: str) -> Mapping[str, Any]:
    """Return the settings for the step; raise ValueError for what cannot be run here."""
    if transform.type == "TimestampRouter":
        try:
            route_by_time(transform.settings)
        except ValueError as error:
            pattern = transform.settings["timestamp.format"]
            raise ValueError(
                f"transforms.{transform.name}.timestamp.format={pattern} is not possible: {error}"
            ) from None
    if transform.type == "InsertHeader":
        return {**transform.settings, "value.literal": _header_text(transform, converter)}
    return transform.settings


def _header_text(transform: Transform, converter: str) -> str | None:
    literal = transform.settings["value.literal"]
    key = f"transforms.{transform.name}.value.literal={literal}"
    try:
        text = connect_literals.written(literal)
    except ValueError as error:
        raise ValueError(f"{key} is not possible: {error}; choose a word") from None
    kind = converter.rpartition(".")[2]
    if text is None or kind in _TEXT:
        return text
    why = ", which writes only bytes: Connect's task ends at the first record" if kind == _BYTES else ""
    raise ValueError(
        f"{key} is not possible with header.converter={converter}{why}; choose {_PACKAGE}{_TEXT[0]}, or null as the "
        "literal"
    )

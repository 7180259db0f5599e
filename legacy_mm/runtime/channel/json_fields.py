"""Fields of frames as JSON, by their types: offsets, enums, secrets, settings and rows, and what JSON has itself.

A peer can send wrong values, never code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.secret import Secret


class _FieldKind(NamedTuple):
    """A field's way to JSON and back."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    """Raises ValueError, KeyError or TypeError for what cannot have been written."""


def written(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON takes them. A secret is in them as it is."""
    return {name: kind.write(getattr(value, name)) for name, kind in _kinds(value.__class__).items()}


def read(kind: type, body: Any) -> dict[str, Any]:
    """Return the arguments that make this dataclass again."""
    return {name: row.read(body[name]) for name, row in _kinds(kind).items()}


@cache
def _kinds(kind: Any) -> Mapping[str, _FieldKind]:
    hints = get_type_hints(kind)
    return {field.name: _of(hints[field.name]) for field in fields(kind)}


def _of(hint: Any) -> _FieldKind:
    if hint == Offsets:
        return _FieldKind(_written_offsets, _read_offsets)
    if hint is Secret:
        return _FieldKind(Secret.reveal, Secret)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _FieldKind(lambda member: member.value, hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _FieldKind(written, lambda body: hint(**read(hint, body)))
    if NoneType in get_args(hint):
        return _or_none(*(each for each in get_args(hint) if each is not NoneType))
    if get_origin(hint) is tuple:
        return _FieldKind(_as_it_is, tuple)
    rows = next((each for each in get_args(hint) if isinstance(each, type) and issubclass(each, tuple)), None)
    if rows is not None and get_origin(hint) is Sequence:
        return _FieldKind(_as_it_is, lambda found: [rows(*row) for row in found])
    return _FieldKind(_as_it_is, _as_it_is)


def _or_none(hint: Any) -> _FieldKind:
    kind = _of(hint)
    return _FieldKind(
        lambda value: None if value is None else kind.write(value),
        lambda found: None if found is None else kind.read(found),
    )


def _as_it_is(value: Any) -> Any:
    return value


def _written_offsets(offsets: Offsets) -> list[list[Any]]:
    return [[partition.topic, partition.partition, offset] for partition, offset in offsets.items()]


def _read_offsets(rows: Any) -> Offsets:
    return {TopicPartition(topic, number): offset for topic, number, offset in rows}

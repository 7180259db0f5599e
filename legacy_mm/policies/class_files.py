"""Reads of a Java class file what the class is called, what it extends, and what it implements. Pure."""

from __future__ import annotations

from struct import Struct, error, unpack_from
from typing import NamedTuple

_HEAD, _SHORT = Struct(">I2x2xH"), Struct(">H")
_MAGIC = 0xCAFEBABE
_UTF8, _CLASS = 1, 7
_TWO_PLACES = (5, 6)
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Kind of a constant -> its bytes behind the kind, but for text."""
_PUBLIC, _INTERFACE, _ABSTRACT = 0x0001, 0x0200, 0x0400


class ClassFile(NamedTuple):
    """A class, by its file; names have dots."""

    name: str
    is_concrete: bool
    """True for a public class that can have objects."""
    parents: tuple[str, ...]
    """The classes that it extends and implements itself."""


def read_class(data: bytes) -> ClassFile | None:
    """Return what a class file says; None if it is none."""
    try:
        return _read(data)
    except (error, IndexError, KeyError, UnicodeDecodeError):
        return None


def _read(data: bytes) -> ClassFile | None:
    magic, count = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        return None
    texts: dict[int, str] = {}
    classes: dict[int, int] = {}
    at, number = _HEAD.size, 1
    while number < count:
        kind = data[at]
        if kind == _UTF8:
            (size,) = _SHORT.unpack_from(data, at + 1)
            texts[number] = data[at + 3 : at + 3 + size].decode(errors="replace")
            at += 3 + size
        else:
            if kind == _CLASS:
                (classes[number],) = _SHORT.unpack_from(data, at + 1)
            at += 1 + _SIZES[kind]
        number += 2 if kind in _TWO_PLACES else 1
    flags, this, extended, interfaces = unpack_from(">4H", data, at)
    parents = [number for number in (extended, *unpack_from(f">{interfaces}H", data, at + 8)) if number]
    name, *others = (texts[classes[number]].replace("/", ".") for number in (this, *parents))
    return ClassFile(name, bool(flags & _PUBLIC) and not flags & (_INTERFACE | _ABSTRACT), tuple(others))

"""The contents of a Java class path: folders of classes, jars, and what a class file says of its class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct, error, unpack_from
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

_HEAD, _SHORT = Struct(">I2x2xH"), Struct(">H")
_MAGIC = 0xCAFEBABE
_UTF8, _CLASS = 1, 7
_TWO_PLACES = (5, 6)
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Kind of a constant -> its bytes behind the kind, but for text."""
_PUBLIC, _INTERFACE, _ABSTRACT = 0x0001, 0x0200, 0x0400
_INNERMOST = re.compile(r"[/$]")


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


def has_class(class_path: Iterable[str], name: str) -> bool:
    """Return whether a folder or jar of it has the class of this name."""
    file = _file(name)
    return any(_holds(Path(entry), file) for entry in class_path)


def plugins_called(class_path: Sequence[str], alias: str, kind: str) -> list[str]:
    """Return the classes that Connect's name for a plug-in may mean: its simple name, with or without that of its kind.

    `kind` is the interface, such as `org.apache.kafka.connect.transforms.Transformation`.
    """
    suffix = kind.rpartition(".")[2]
    found = {
        name
        for entry in class_path
        for file in _files(Path(entry))
        if alias in _aliases(_INNERMOST.split(file)[-1].removesuffix(".class"), suffix)
        and (name := file.removesuffix(".class").replace("/", "."))
        and _is_plugin(class_path, name, kind)
    }
    return sorted(found)


def _aliases(simple: str, suffix: str) -> set[str]:
    at = simple.rfind(suffix)
    return {simple, simple[:at] if at > 0 else simple}


def _is_plugin(class_path: Sequence[str], name: str, kind: str) -> bool:
    read = _class(class_path, name)
    return read is not None and read.is_concrete and _is_a(class_path, read, kind)


def _is_a(class_path: Sequence[str], read: ClassFile, kind: str) -> bool:
    parents = (_class(class_path, name) for name in read.parents)
    return kind in read.parents or any(each is not None and _is_a(class_path, each, kind) for each in parents)


def _class(class_path: Iterable[str], name: str) -> ClassFile | None:
    file = _file(name)
    for entry in map(Path, class_path):
        if (data := _content(entry, file)) is not None:
            return read_class(data)
    return None


def _file(name: str) -> str:
    return name.replace(".", "/") + ".class"


def _holds(entry: Path, file: str) -> bool:
    if entry.is_dir():
        return (entry / file).exists()
    try:
        with ZipFile(entry) as jar:
            return file in jar.NameToInfo
    except (OSError, BadZipFile):
        return False


def _content(entry: Path, file: str) -> bytes | None:
    try:
        if entry.is_dir():
            return (entry / file).read_bytes()
        with ZipFile(entry) as jar:
            return jar.read(file)
    except (OSError, BadZipFile, KeyError):
        return None


def _files(entry: Path) -> Iterator[str]:
    """Yield the class files of a folder or jar, with slashes."""
    if entry.is_dir():
        yield from (str(each.relative_to(entry)) for each in entry.rglob("*.class"))
        return
    try:
        with ZipFile(entry) as jar:
            yield from (name for name in jar.NameToInfo if name.endswith(".class"))
    except (OSError, BadZipFile):
        return

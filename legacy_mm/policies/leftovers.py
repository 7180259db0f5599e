"""Leftovers of an earlier naming at the target: nothing removes them, so an operator should know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def left_behind(names: Mapping[str, str], target: Collection[str], separator: str) -> Iterator[str]:
    """Yield topics of the target that another naming would have made; `names`: source topic -> its name at the target.

    Nothing shows if a mirror made them, hence the careful words.
    """
    current = frozenset(names.values())
    for found in sorted(frozenset(target) - current):
        topic = found if found in names else _renamed(found, names, separator)
        if topic is not None:
            yield (
                f"topic {found} is named as a copy of {topic} would be under other flags; the copy is called "
                f"{names[topic]} now, and this mirror writes nothing to {found}"
            )


def _renamed(found: str, names: Mapping[str, str], separator: str) -> str | None:
    """Return the source topic whose name comes after an alias."""
    _, here, topic = found.partition(separator)
    return topic if here and topic in names else None

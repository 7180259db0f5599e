"""What an earlier choice of names has left at the target: nothing removes it, so an operator should know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def left_behind(names: Mapping[str, str], target: Collection[str], separator: str) -> Iterator[str]:
    """Topics of the target that another naming would have made; `names`: source topic -> its name at the target.

    Whether a mirror made them cannot be seen, hence the careful words.
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
    """The source topic whose name stands behind an alias."""
    _, here, topic = found.partition(separator)
    return topic if here and topic in names else None

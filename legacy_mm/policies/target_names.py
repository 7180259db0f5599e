"""Names that a cluster cannot give a topic, as far as they are known without a request to create it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
_LONGEST = 249


def obstacle(name: str, present: Collection[str]) -> str:
    """Return why a cluster with these topics cannot have one of this name; empty if it can."""
    if len(name) > _LONGEST:
        return f"the name has {len(name)} letters, and Kafka takes {_LONGEST}"
    if name in (".", "..") or not _LEGAL.fullmatch(name):
        return "the name holds what Kafka does not take: letters, digits, dots, underscores and hyphens are allowed"
    others = [each for each in present if each != name and _metric_name(each) == _metric_name(name)]
    return f"the name collides with topic {min(others)}: they differ only in dots and underscores" if others else ""


def obstacles(wanted: Iterable[str], present: Collection[str]) -> dict[str, str]:
    """Name -> why it cannot be had, of these that are not there; the first of two that collide can."""
    by_metric = {_metric_name(name): name for name in present}
    found: dict[str, str] = {}
    for name in sorted(set(wanted) - set(present)):
        other = by_metric.setdefault(_metric_name(name), name)
        if why := obstacle(name, [other]):
            found[name] = why
    return found


def _metric_name(name: str) -> str:
    """Return the name that brokers use in their metrics, which must be unique."""
    return name.replace(".", "_")

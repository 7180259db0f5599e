"""Topics that the flows of one file would copy in a circle: they come back under their own name. Pure.

Names that tell where a topic has been cannot do that; names that are kept can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from legacy_mm.dedicated.driver_file import Pair


@dataclass(frozen=True, slots=True)
class FlowNames:
    """A flow as names see it."""

    pair: Pair
    mirrored: Callable[[Iterable[str]], frozenset[str]]
    """Selects the topics of the source that the flow copies."""
    remote: Callable[[str], str]
    """Returns the name of the copy."""


def circle(flows: Sequence[FlowNames], first: Pair, topic: str) -> list[Pair]:
    """Return the flows by which a topic of the first flow's source comes back to it as itself; none if it does not."""
    start = (first.source, topic)
    for flow in flows:
        if flow.pair == first:
            return next(_ways_back(flows, (first.target, flow.remote(topic)), start, [first]), [])
    return []


def _ways_back(
    flows: Sequence[FlowNames], place: tuple[str, str], start: tuple[str, str], way: list[Pair]
) -> Iterator[list[Pair]]:
    if place == start:
        yield way
        return
    cluster, topic = place
    for flow in flows:
        if flow.pair.source == cluster and flow.pair not in way and flow.mirrored([topic]):
            yield from _ways_back(flows, (flow.pair.target, flow.remote(topic)), start, [*way, flow.pair])

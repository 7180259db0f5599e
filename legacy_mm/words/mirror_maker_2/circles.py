"""Topics that the flows of one file would copy in a circle, under their own name or a longer one each time. Pure.

Names that tell where a topic has been cannot do that. Names that are kept can, and so can those with an alias that
holds the separator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.words.mirror_maker_2.driver_file import Pair


@dataclass(frozen=True, slots=True)
class FlowNames:
    """A flow as names see it."""

    pair: Pair
    mirrored: Callable[[Iterable[str]], frozenset[str]]
    """Selects the topics of the source that the flow copies."""
    remote: Callable[[str], str]
    """Returns the name of the copy."""


class Circle(NamedTuple):
    """The flows by which a topic comes back to its cluster, and what it is called then."""

    way: list[Pair]
    name: str


def circle(flows: Sequence[FlowNames], first: Pair, topic: str) -> Circle | None:
    """Return the circle in which the first flow and others would copy this topic of its source; None if there is none.

    It comes back as itself, or as a topic that goes the same way again.
    """
    for flow in flows:
        if flow.pair == first:
            for way, name in _ways_back(flows, (first.target, flow.remote(topic)), first.source, [flow]):
                if name == topic or _all_copy(way, name):
                    return Circle([each.pair for each in way], name)
    return None


def _ways_back(
    flows: Sequence[FlowNames], place: tuple[str, str], home: str, way: list[FlowNames]
) -> Iterator[tuple[list[FlowNames], str]]:
    cluster, topic = place
    if cluster == home:
        yield way, topic
    for flow in flows:
        if flow.pair.source == cluster and flow not in way and flow.mirrored([topic]):
            yield from _ways_back(flows, (flow.pair.target, flow.remote(topic)), home, [*way, flow])


def _all_copy(way: Sequence[FlowNames], topic: str) -> bool:
    """Return True if each of these flows copies what the one before has made of the topic."""
    for flow in way:
        if not flow.mirrored([topic]):
            return False
        topic = flow.remote(topic)
    return True

"""The names that the bundles of a flow have at the target: transactional ids, and the positions topic."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import FLOW, Bundle

PREFIX = "legacy-mm"
"""All names begin with it, so that one rule for a prefix gives all rights."""
_PLAIN = re.compile(r"[A-Za-z0-9-]+")
_LONGEST = 60
"""The most letters of a group or an alias in a name; a topic's has room for all three."""
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class FlowBundles:
    """A flow that a group copies."""

    group: str
    source: str
    """The alias of the source cluster."""
    target: str

    @property
    def name(self) -> str:
        """The part that no other flow has: `group.source.target` if all are plain, else with a digest.

        Brokers take dots and underscores in names of topics for the same.
        """
        parts = (self.group, self.source, self.target)
        if all(len(each) <= _LONGEST and _PLAIN.fullmatch(each) for each in parts):
            return ".".join(parts)
        readable = [re.sub(r"[^A-Za-z0-9-]", "-", each)[:_LONGEST] for each in parts]
        return ".".join((*readable, sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]))

    @property
    def positions_topic(self) -> str:
        """The topic; no mirror copies a topic with such an end."""
        return f"{PREFIX}-positions.{self.name}.internal"

    def bundle(self, number: int) -> Bundle:
        """Return a bundle by its number; FLOW is the one whose transactions write the flow's record."""
        last = "flow" if number == FLOW else str(number)
        place = TopicPartition(self.positions_topic, max(number, 0))
        return Bundle(f"{PREFIX}.{self.name}.{last}", place)

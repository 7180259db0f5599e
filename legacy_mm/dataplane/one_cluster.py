"""Source and target may be one cluster: the copying clients see it in answers that they get anyway.

Where a topic is copied into itself, what was written is read and written again. Copying ends then, because the topic
would grow until the disks are full.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from legacy_mm.base.errors import EndlessCopy
from legacy_mm.base.model import LATEST, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, RequestRefused
from legacy_mm.dataplane.acks import Part
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.logs import events
from legacy_mm.policies.same_cluster import several_clusters, what_goes_round, what_one_cluster_means


class OneCluster:
    """Says it once, where a topic is copied into itself, and ends the copying when its own records come back."""

    def __init__(self, names: Mapping[str, str], clusters: tuple[Cluster, Cluster], beat: KeepAlive) -> None:
        """Create the check for these copies; `clusters`: source and target.

        `names`: topic -> its copy; none with a handler, whose records have the names of the target.
        """
        self._source, self._target = clusters
        self._beat = beat
        self._names = names
        self._keeps_names = any(topic == name for topic, name in names.items())
        self._reported = self._is_one = False
        self._written: dict[TopicPartition, int | None] = {}
        """The first offset in a partition of the source that we may have written; None: it is another log."""

    def tell(self) -> None:
        """Tell if both are one cluster, or one is several; call this now and then, it sends no request."""
        if self._reported:
            return
        source, target = self._source.metadata.cluster_id(), self._target.metadata.cluster_id()
        if source and target:
            self._reported = True
            ids_by_end = {"source": self._source.metadata.cluster_ids(), "target": self._target.metadata.cluster_ids()}
            texts = [several_clusters(end, ids) for end, ids in ids_by_end.items()]
            self._is_one = self._keeps_names and source == target
            if self._is_one:
                texts.append(what_one_cluster_means(source, renames=False, features=False, aliases=("", "")))
            for text in filter(None, texts):
                events.emit(events.ONE_CLUSTER, what=text)

    def acknowledged(self, part: Part, base_offset: int) -> None:
        """Handle what the target has from this offset on; raise EndlessCopy if it was there before, written by us."""
        self.tell()
        place = part.piece.partition
        if not self._is_one or not part.is_copy or base_offset < 0 or self._names[place.topic] != place.topic:
            return
        written = self._written.setdefault(place, base_offset)
        if written is None:
            return
        if base_offset < part.piece.next_offset:  # clusters that were made from one snapshot have one id
            self._written[place] = None
        elif part.piece.next_offset > written and (same := self._are_one_log(place)) is not None:
            self._written[place] = None
            if same:
                raise EndlessCopy(what_goes_round(place, written))

    def _are_one_log(self, place: TopicPartition) -> bool | None:
        """Return True if what the target says of its end lies between two answers of the source; None: not known."""
        with self._beat, suppress(ConnectionLost, ClusterUnreachable, RequestRefused):
            questioned = self._source, self._target, self._source
            ends = [each.offsets.of_led([place], LATEST, patient=False) for each in questioned]
            if all(place in each for each in ends):
                before, there, after = (each[place] for each in ends)
                return before <= there <= after
        return None

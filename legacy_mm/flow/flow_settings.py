"""The one typed description of a mirror: frozen, made once by `words`, read where a flow is built.

Times are seconds, sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.settings import (
    AdminSettings,
    ConnectNames,
    HandlerSettings,
    ListenerSettings,
    ProcessSettings,
    QuarantineSettings,
    SourceSettings,
    TargetSettings,
    TopicSettings,
)
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.features.start_from.flags import StartTimes


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything one mirror needs to know."""

    source: SourceSettings
    target: TargetSettings
    topics: TopicSettings
    process: ProcessSettings
    streams: int
    commit_interval: float
    fail_on_gap: bool = False
    """Offsets that cannot be read any more end the mirror; else they are reported."""
    first_stream: int = 0
    """Streams are numbered through all mirrors of the process."""
    handler: HandlerSettings | None = None
    quarantine: QuarantineSettings = QuarantineSettings()
    listener: ListenerSettings | None = None
    features: FeatureSettings = FeatureSettings()
    source_admin: AdminSettings | None = None
    """Settings of the features' clients; None: as the mirror's own."""
    target_admin: AdminSettings | None = None
    worker: AdminSettings | None = None
    """Settings of a Connect worker's own clients, which keep its group and offsets at the target; None: as the
    mirror's own.
    """
    connect_names: ConnectNames | None = None
    """The client ids of a flow of MirrorMaker 2's file; None: those of the legacy tool."""

    @property
    def flow(self) -> str:
        """From where to where, as metrics and Spark jobs show it."""
        return f"{self.source.name}->{self.target.name}"

    @property
    def own_clients(self) -> frozenset[tuple[str, str]]:
        """The clients that copy, as quotas name them, where the settings tell: logins by name, and client ids."""
        ends = (self.source.connection, self.target.connection)
        users = {("user", each.sasl.username) for each in ends if each.sasl.username and each.protocol.logs_in}
        streams = range(self.first_stream, self.first_stream + self.streams)
        ids = {self.target.connection.client_id, *map(self.client_id, streams)} - {""}
        return frozenset(users | {("client-id", each) for each in ids})

    def client_id(self, stream: int) -> str:
        """Return the client id of a stream's membership and of its copying client."""
        names = self.connect_names
        return f"{self.source.group_id}-{stream}" if names is None else names.consumers[stream - self.first_stream]

    @property
    def start_times(self) -> StartTimes:
        """The times at which partitions without a position begin; none where `start.from` is not given."""
        return self.features[START_FROM] or StartTimes()

    @property
    def source_admin_connection(self) -> ConnectionSettings:
        """The way to the source for the features' clients."""
        return (self.source_admin or self.source).connection

    @property
    def worker_connection(self) -> ConnectionSettings:
        """The way to the target for the group and the offsets of Connect's workers."""
        return (self.worker or self.target).connection

    @property
    def target_admin_connection(self) -> ConnectionSettings:
        """The way to the target for the features' clients."""
        return (self.target_admin or self.target).connection

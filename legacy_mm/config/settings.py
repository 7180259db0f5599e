"""The one typed description of a mirror: frozen, made once by `compat.translate`, read by `wiring.py`.

Nothing below knows a word of the old tool. Times are seconds, sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ClientProperties = Mapping[str, str]
"""librdkafka property -> value, translated and checked. May hold secrets: never printed, never given to Spark."""

OffsetReset = Literal["earliest", "latest", "none"]


@dataclass(frozen=True, slots=True)
class KeyStore:
    """A key store file in one of Java's own formats."""

    location: str
    type: str
    password: str | None = field(repr=False)
    """None: certificates are read without a check of the file."""
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class JavaStores:
    """What a client needs Java to read before it can connect; the outcome goes into its properties."""

    trusted: KeyStore | None = None
    keys: KeyStore | None = None
    java_trust: bool = False
    """Trust what Java itself trusts."""
    token_service: bool = False
    """Tokens come over HTTPS, from a service that Java trusts."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """How to read the source cluster, as a member of the group."""

    properties: ClientProperties = field(repr=False)
    """librdkafka consumer properties without `client.id` and `auto.offset.reset`, which streams set themselves."""
    group_id: str
    offset_reset: OffsetReset
    metadata_max_age: float
    """Seconds between two looks for new topics and partitions."""
    api_timeout: float
    """Seconds one metadata, offset or commit exchange may last (`default.api.timeout.ms`)."""
    max_poll_interval: float
    group_instance_id: str | None = None
    stores: JavaStores = JavaStores()


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """How to write to the target cluster."""

    properties: ClientProperties = field(repr=False)
    """librdkafka producer properties for *one stream* (`buffer.memory` is already divided)."""
    abort_on_send_failure: bool
    synchronous: bool = False
    """Every record waits for its acknowledgement (`producer.type=sync`)."""
    idempotence_required: bool = False
    """The user asked for idempotence by name: a target that refuses it is an error, not a reason to go on without."""
    stores: JavaStores = JavaStores()


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Which topics are mirrored."""

    pattern: str
    """A Java regular expression that must match the whole name."""
    pattern_text: str
    """The user's own text, for messages."""
    exclude_internal: bool = True


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """Where the copy tasks run."""

    master: str | None = None
    """None: embedded, in this process's own tree."""
    conf: Mapping[str, str] = field(default_factory=dict)
    heap: str = "512m"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything one mirror needs to know."""

    source: SourceSettings
    target: TargetSettings
    topics: TopicSettings
    spark: SparkSettings
    streams: int
    commit_interval: float
    shutdown_timeout: float

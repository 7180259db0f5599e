"""A worker's file of `connect-distributed.sh`: the topic in which its connectors are kept, and the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import AdminSettings
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.mirror_maker_2.connector_properties import is_client_name

_REQUIRED = ("bootstrap.servers", "group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic")
_FACTOR, _DEFAULT_FACTOR = "config.storage.replication.factor", "3"


@dataclass(frozen=True, slots=True)
class ConfigStorage:
    """The topic of the connectors' configurations, at the cluster of the worker."""

    cluster: AdminSettings = field(repr=False)
    topic: str
    replication_factor: int
    """The factor of a topic that is to be made; -1: as the brokers have it."""


def config_storage(worker: Mapping[str, str], clients: ClientTranslation) -> ConfigStorage:
    """Return where the connectors are kept; raises ConfigurationError in Connect's words for what is missing."""
    for name in _REQUIRED:
        if not worker.get(name, "").strip():
            raise ConfigurationError(
                "org.apache.kafka.common.config.ConfigException: Missing required configuration "
                f'"{name}" which has no default value.'
            )
    given = {name: text for name, text in worker.items() if is_client_name(name)}
    client = clients.client("consumer", given, 1)
    clients.hide(client.secrets)
    factor = worker.get(_FACTOR, _DEFAULT_FACTOR).strip()
    try:
        replication_factor = int(factor)
    except ValueError:
        raise ConfigurationError(f"{_FACTOR}={factor} is no number: write one, or -1 for the brokers' own") from None
    found = AdminSettings(client.connection, client.stores, client.pem)
    return ConfigStorage(found, worker["config.storage.topic"].strip(), replication_factor)

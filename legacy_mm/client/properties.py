"""The properties of a MirrorMaker 2 client, in Java's spelling, as its connections and its names of topics.

As in Java, of the clients' properties only address and security count (`bootstrap.servers`, `security.*`, `ssl.*`,
`sasl.*`), each also with `admin.` or `consumer.` in front, which wins for that client. Beside them
`replication.policy.*`, `source.cluster.alias` and `config.providers`; ours are `mm2.compatibility` and `librdkafka.*`.
Everything else is for a replication policy of the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net import tls_context
from legacy_mm.features.naming.flags import NamingSettings, client_naming
from legacy_mm.words.legacy_tool import client_connection

_CONNECTION = ("bootstrap.servers", "security.", "ssl.", "sasl.", "config.providers", "librdkafka.")
_KINDS = ("admin.", "consumer.", "producer.")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Both connections, and the naming of topics."""

    admin: ConnectionSettings
    consumer: ConnectionSettings
    naming: NamingSettings


def read(properties: Mapping[str, str]) -> ClientSettings:
    """Read the properties; Java is started only if it has to read a key store.

    Raises ConfigurationError, and HostError if Java is needed and missing.
    """
    with client_connection.environment_java() as java:

        def connection(kind: str) -> ConnectionSettings:
            made = client_connection.translated(_for_kind(kind, properties)).reached(java)
            tls_context.check_pem(made.tls)
            return made

        admin, consumer = connection("admin."), connection("consumer.")
    names = {
        name: text for name, text in properties.items() if not name.removeprefix(_kind(name)).startswith(_CONNECTION)
    }
    return ClientSettings(admin, consumer, client_naming(names))


def _for_kind(kind: str, properties: Mapping[str, str]) -> dict[str, str]:
    own = {name.removeprefix(kind): text for name, text in properties.items() if name.startswith(kind)}
    return {name: text for name, text in {**properties, **own}.items() if name.startswith(_CONNECTION)}


def _kind(name: str) -> str:
    return next((kind for kind in _KINDS if name.startswith(kind)), "")

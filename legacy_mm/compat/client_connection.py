"""How to reach a cluster, out of a client's Java properties file: for our own commands, which are no mirror."""

from __future__ import annotations

from legacy_mm.compat import properties_file
from legacy_mm.compat.client_properties.translate import apply
from legacy_mm.config.settings import JavaStores
from legacy_mm.errors import ConfigurationError
from legacy_mm.kafka.client import admin_properties
from legacy_mm.policies.logins import beyond_librdkafka


def read(path: str) -> dict[str, str]:
    """librdkafka's properties for address and security, none else; raises ConfigurationError."""
    read = apply("consumer", properties_file.load(path).properties)
    if read.stores != JavaStores():
        raise ConfigurationError(
            f"{path}: this command starts no Java and cannot read its key stores; give the keys as PEM "
            "(ssl.truststore.type=PEM, ssl.keystore.type=PEM)"
        )
    if login := beyond_librdkafka(read.properties):
        raise ConfigurationError(f"{path}: this command has no login by {login}")
    if not read.properties.get("bootstrap.servers"):
        raise ConfigurationError(f"{path}: bootstrap.servers is missing")
    return admin_properties(read.properties)

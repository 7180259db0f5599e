"""The connection to a cluster from a Java client's properties, for our own commands and clients that are no mirror."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from legacy_mm.compat import environment, jaas, properties_file
from legacy_mm.compat.client_properties.apply import apply
from legacy_mm.compat.system_properties import system_properties
from legacy_mm.config import property_names
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.config.settings import JavaStores, JvmSettings
from legacy_mm.errors import ConfigurationError
from legacy_mm.policies.logins import beyond_librdkafka


class ClientConnection(NamedTuple):
    """The way to a cluster, and what Java has to read for it."""

    connection: ConnectionSettings
    stores: JavaStores


def read(path: str, java: JvmSettings | None = None) -> ConnectionSettings:
    """Return the connection for a command that starts no Java; raises ConfigurationError."""
    found = translated(java_properties(path, java))
    if found.stores != JavaStores():
        raise ConfigurationError(
            f"{path}: this command starts no Java and cannot read its key stores; give the keys as PEM "
            "(ssl.truststore.type=PEM, ssl.keystore.type=PEM)"
        )
    return found.connection


def java_properties(path: str, java: JvmSettings | None = None) -> dict[str, str]:
    """Return the file's properties, with the login of the file that Java's options name; raises ConfigurationError.

    Java's options are those of KAFKA_OPTS unless others are given.
    """
    java = java or environment.read(os.environ).jvm
    file = properties_file.load(path).properties
    return jaas.with_login(file, java.system_property(jaas.LOGIN_FILE), system_properties(java.options))


def translated(properties: Mapping[str, str]) -> ClientConnection:
    """Return the connection that these Java properties describe; raises ConfigurationError."""
    read = apply("consumer", properties)
    connection = property_names.read_connection(read.properties)
    if login := beyond_librdkafka(connection):
        raise ConfigurationError(f"this command has no login by {login}")
    return ClientConnection(connection, read.stores)

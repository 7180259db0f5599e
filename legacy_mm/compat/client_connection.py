"""The connection to a cluster from a Java client's properties, for our own commands and clients that are no mirror."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from legacy_mm.clients.librdkafka.client import admin_properties
from legacy_mm.compat import environment, jaas, properties_file
from legacy_mm.compat.client_properties.apply import apply
from legacy_mm.compat.system_properties import system_properties
from legacy_mm.config.settings import JavaStores, JvmSettings
from legacy_mm.errors import ConfigurationError
from legacy_mm.policies.logins import beyond_librdkafka


class ClientConnection(NamedTuple):
    """librdkafka's properties for address and security, none else, and what Java has to read for them."""

    properties: dict[str, str]
    stores: JavaStores


def read(path: str, java: JvmSettings | None = None) -> dict[str, str]:
    """Return the properties for a command that starts no Java; raises ConfigurationError."""
    connection = translated(java_properties(path, java))
    if connection.stores != JavaStores():
        raise ConfigurationError(
            f"{path}: this command starts no Java and cannot read its key stores; give the keys as PEM "
            "(ssl.truststore.type=PEM, ssl.keystore.type=PEM)"
        )
    return connection.properties


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
    if login := beyond_librdkafka(read.properties):
        raise ConfigurationError(f"this command has no login by {login}")
    return ClientConnection(admin_properties(read.properties), read.stores)

"""Login callback classes of other people, by what their documented options say: Strimzi's and Confluent's."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import FieldValues
from legacy_mm.base.secret import Secret
from legacy_mm.base.settings import KeyStore
from legacy_mm.policies.logins import unfit_extension
from legacy_mm.words.java_clients.client_properties.rule import PropertyReading

STRIMZI = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
CONFLUENT = "io.confluent.kafka.clients.plugins.auth.token.TokenUserLoginCallbackHandler"
_ENDPOINT, _ID, _SECRET = "oauth.token.endpoint.uri", "oauth.client.id", "oauth.client.secret"
_TOKEN, _TOKEN_FILE = "oauth.access.token", "oauth.access.token.location"
_SCOPE, _AUDIENCE = "oauth.scope", "oauth.audience"
_EXTENSION = "oauth.sasl.extension."
_TRUST = "oauth."
"""Options of its trust store begin with this."""
_READ = {_ENDPOINT, _ID, _SECRET, _TOKEN, _TOKEN_FILE, _SCOPE, _AUDIENCE}
_HARMLESS = {
    "oauth.access.token.is.jwt",
    "oauth.connect.timeout.seconds",
    "oauth.enable.metrics",
    "oauth.fallback.username.claim",
    "oauth.fallback.username.prefix",
    "oauth.http.retries",
    "oauth.http.retry.pause.millis",
    "oauth.include.accept.header",
    "oauth.max.token.expiry.seconds",
    "oauth.read.timeout.seconds",
    "oauth.ssl.secure.random.implementation",
    "oauth.username.claim",
    "oauth.username.prefix",
}
"""They change how often a token is fetched, or what the Java client calls the user for itself."""
_ELSEWHERE = (
    "oauth.client.assertion",
    "oauth.client.assertion.location",
    "oauth.password.grant.username",
    "oauth.refresh.token",
    "oauth.refresh.token.location",
    "oauth.ssl.endpoint.identification.algorithm",
)
"""Options that may stand in a system property or a variable, and are not possible here."""


TRUST_OPTIONS = tuple(f"ssl.truststore.{name}" for name in ("certificates", "location", "type", "password"))
TOKEN_STORE = "stores.token_trusted"
"""Beside the fields: a store of Java's with what a token service shows, which becomes one of the client's stores."""
_DEFAULT_STORE = "JKS"
"""Java opens a store of PKCS12 by this name, too."""


class OptionUnknown(ConfigurationError):
    """An option asks for what is not possible here; the class itself may do it."""


def strimzi(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    """Return what a login by client id and secret, or by a token at hand, needs; raise OptionUnknown.

    As Strimzi reads it: a system property first, then a variable, then `sasl.jaas.config`; with a token at hand nothing
    else counts.
    """

    def value(name: str) -> str:
        variable = name.upper().replace("-", "_").replace(".", "_")
        places = (reading.system, name), (os.environ, variable), (os.environ, name), (options, name)
        return next((place[key] for place, key in places if key in place), "")

    login = {"sasl.mechanism": "OAUTHBEARER", "oauth.extensions": joined_extensions(_EXTENSION, options)}
    if file := value(_TOKEN_FILE):
        if not Path(file).is_file():
            raise ConfigurationError(f"{STRIMZI}: {_TOKEN_FILE} names no file: {file}")
        return {**login, "oauth.token_file": file}
    if token := value(_TOKEN):
        return {**login, "oauth.token": Secret(token)}
    named = {name for name in (*_READ, *_ELSEWHERE) if value(name)} | set(options)
    trust = {f"{_TRUST}{name}" for name in TRUST_OPTIONS}
    unknown = sorted(name for name in named - _READ - trust - _HARMLESS if not name.startswith(_EXTENSION))
    if unknown:
        raise OptionUnknown(
            f"{STRIMZI}: the option {unknown[0]} is not supported; with Strimzi's jars on CLASSPATH or "
            "--handler.classpath its own class is asked for tokens"
        )
    url = value(_ENDPOINT)
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{STRIMZI}: {_ENDPOINT} must be the http or https address of a token service")
    if not value(_ID) or not value(_SECRET):
        raise ConfigurationError(f"{STRIMZI}: {_ID} and {_SECRET} must be there, or {_TOKEN}")
    return {
        **login,
        "oauth.audience": value(_AUDIENCE),
        "oauth.token_url": url,
        "oauth.client_id": value(_ID),
        "oauth.client_secret": Secret(value(_SECRET)),
        "oauth.scope": value(_SCOPE) or None,
        **token_trust(_TRUST, value),
    }


def joined_extensions(prefix: str, options: Mapping[str, str]) -> str:
    """Return the SASL extensions among the options as `name=value`, with commas between; raise ConfigurationError."""
    named = {name.removeprefix(prefix): text for name, text in options.items() if name.startswith(prefix)}
    if (reason := unfit_extension(named)) is not None:
        raise ConfigurationError(f"sasl.jaas.config: {reason}")
    if listed := next((name for name, text in named.items() if "," in text), None):
        raise ConfigurationError(f"sasl.jaas.config: a comma in {prefix}{listed} is not supported")
    return ",".join(f"{name}={text}" for name, text in named.items())


def confluent(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    """Return what a login with a token of Confluent's metadata service needs."""
    wanted = ("username", "password", "metadataServerUrls")
    if missing := [name for name in wanted if not options.get(name)]:
        raise ConfigurationError(f"{CONFLUENT}: sasl.jaas.config must have the option {missing[0]}")
    if unknown := sorted(set(options) - set(wanted)):
        raise ConfigurationError(f"{CONFLUENT}: the option {unknown[0]} is not supported")
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.username": options["username"],
        "sasl.password": Secret(options["password"]),
        "oauth.metadata_service_urls": options["metadataServerUrls"],
    }


def token_trust(prefix: str, value: Callable[[str], str]) -> FieldValues:
    """Return the trust in a token service, of options with this prefix; `value` returns one, or an empty text."""
    text, file, kind, password = (value(f"{prefix}{name}") for name in TRUST_OPTIONS)
    if text:
        return {"oauth.ca_pem": text}
    if not file:
        return {}
    if kind.upper() == "PEM":
        return {"oauth.ca_location": file}
    place = f"sasl.jaas.config: {prefix}ssl.truststore.location"
    return {TOKEN_STORE: KeyStore(file, kind or _DEFAULT_STORE, password or None, place=place)}

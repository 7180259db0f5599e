"""Login callback classes of other people, by what their documented options say: Strimzi's and Confluent's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from legacy_mm.compat.client_properties.rule import Emitted, PropertyReading
from legacy_mm.config.property_names import GIVEN, METADATA_SERVICE
from legacy_mm.errors import ConfigurationError

STRIMZI = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
CONFLUENT = "io.confluent.kafka.clients.plugins.auth.token.TokenUserLoginCallbackHandler"
_ENDPOINT, _ID, _SECRET = "oauth.token.endpoint.uri", "oauth.client.id", "oauth.client.secret"
_TOKEN, _SCOPE = "oauth.access.token", "oauth.scope"
_PEM_FILE, _PEM_TEXT = "oauth.ssl.truststore.location", "oauth.ssl.truststore.certificates"
_TRUST_TYPE = "oauth.ssl.truststore.type"
_READ = {_ENDPOINT, _ID, _SECRET, _TOKEN, _SCOPE, _PEM_FILE, _PEM_TEXT, _TRUST_TYPE}
_HARMLESS = {
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
    "oauth.ssl.truststore.password",
    "oauth.username.claim",
    "oauth.username.prefix",
}
"""They change how often a token is fetched, or what the Java client calls the user for itself."""
_ELSEWHERE = (
    "oauth.access.token.is.jwt",
    "oauth.access.token.location",
    "oauth.audience",
    "oauth.client.assertion",
    "oauth.client.assertion.location",
    "oauth.password.grant.username",
    "oauth.refresh.token",
    "oauth.refresh.token.location",
    "oauth.ssl.endpoint.identification.algorithm",
)
"""Options that may stand in a system property or a variable, and are not possible here."""


def strimzi(reading: PropertyReading, options: Mapping[str, str]) -> Emitted:
    """Return what a login by client id and secret, or by a token at hand, needs.

    As Strimzi reads it: a system property first, then a variable, then `sasl.jaas.config`.
    """

    def value(name: str) -> str:
        variable = name.upper().replace("-", "_").replace(".", "_")
        places = (reading.system, name), (os.environ, variable), (os.environ, name), (options, name)
        return next((place[key] for place, key in places if key in place), "")

    asked = {name for name in (*_READ, *_ELSEWHERE) if value(name)} | set(options)
    if unknown := sorted(asked - _READ - _HARMLESS):
        raise ConfigurationError(f"{STRIMZI}: the option {unknown[0]} is not supported")
    if token := value(_TOKEN):
        return {"sasl.mechanism": "OAUTHBEARER", GIVEN: token}
    url = value(_ENDPOINT)
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{STRIMZI}: {_ENDPOINT} must be the http or https address of a token service")
    if not value(_ID) or not value(_SECRET):
        raise ConfigurationError(f"{STRIMZI}: {_ID} and {_SECRET} must be there, or {_TOKEN}")
    trusted = _trusted(value(_PEM_FILE), value(_PEM_TEXT), value(_TRUST_TYPE))
    scope = value(_SCOPE)
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.id": value(_ID),
        "sasl.oauthbearer.client.secret": value(_SECRET),
        **({"sasl.oauthbearer.scope": scope} if scope else {}),
        **trusted,
    }


def confluent(reading: PropertyReading, options: Mapping[str, str]) -> Emitted:
    """Return what a login with a token of Confluent's metadata service needs."""
    wanted = ("username", "password", "metadataServerUrls")
    if missing := [name for name in wanted if not options.get(name)]:
        raise ConfigurationError(f"{CONFLUENT}: sasl.jaas.config must have the option {missing[0]}")
    if unknown := sorted(set(options) - set(wanted)):
        raise ConfigurationError(f"{CONFLUENT}: the option {unknown[0]} is not supported")
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.username": options["username"],
        "sasl.password": options["password"],
        METADATA_SERVICE: options["metadataServerUrls"],
    }


def _trusted(file: str, text: str, kind: str) -> Emitted:
    if text:
        return {"https.ca.pem": text}
    if not file:
        return {}
    if kind.upper() != "PEM":
        raise ConfigurationError(
            f"{STRIMZI}: {_PEM_FILE} is read as PEM only: name a PEM file, and {_TRUST_TYPE}=PEM beside it"
        )
    return {"https.ca.location": file}

"""Logins with a token: OAUTHBEARER (of an OIDC provider, or unsecured as in Java's own tests) and AWS_MSK_IAM."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from urllib.parse import quote_plus

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.base.kafka_clients import FieldValues, MskIamSettings
from legacy_mm.base.secret import Secret
from legacy_mm.clients.net.tokens import MSK_SIGNER
from legacy_mm.policies.jar_contents import has_class
from legacy_mm.words.java_clients.client_properties import known_logins
from legacy_mm.words.java_clients.client_properties.rule import (
    Boolean,
    Harmless,
    PartOf,
    PropertyReading,
    RefusedProperty,
    Rule,
    Rules,
    SecretText,
    Text,
)

_OAUTH = "org.apache.kafka.common.security.oauthbearer."
_MSK = "software.amazon.msk.auth.iam."
_OIDC_HANDLERS = (_OAUTH + "OAuthBearerLoginCallbackHandler", _OAUTH + "secured.OAuthBearerLoginCallbackHandler")
_UNSECURED_HANDLER = _OAUTH + "internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
_MSK_LOGIN_HANDLER = _MSK + "IAMOAuthBearerLoginCallbackHandler"
CLIENT_HANDLER = _OAUTH + "internals.OAuthBearerSaslClientCallbackHandler"
MSK_CLIENT_HANDLER = _MSK + "IAMClientCallbackHandler"

LOGIN_HANDLER = "sasl.login.callback.handler.class"
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"
_URL_ENCODED = "sasl.oauthbearer.header.urlencode"
_CREDENTIALS = "sasl.oauthbearer.client.credentials."
_RETRIEVERS = ("", _OAUTH + "DefaultJwtRetriever", _OAUTH + "ClientCredentialsJwtRetriever")
_EXTENSION = "extension_"
_UNSECURED_EXTENSION = "unsecuredLoginExtension_"
_UNSECURED: Mapping[str, str] = {
    "unsecuredLoginPrincipalClaimName": "principalClaimName",
    "unsecuredLoginScopeClaimName": "scopeClaimName",
    "unsecuredLoginLifetimeSeconds": "lifeSeconds",
    "unsecuredLoginListClaim_scope": "scope",
}
_MSK_OPTIONS: Mapping[str, str] = {
    "awsProfileName": "profile",
    "awsRoleArn": "role",
    "awsRoleSessionName": "session",
}
_MSK_HARMLESS = {"awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs"}
_MSK_PACKAGE = "aws-msk-iam-sasl-signer-python"
_MSK_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com")
_CHECKED_BY_BROKERS = "brokers check tokens"
_NO_JWT_BEARER = "only tokens for client credentials are fetched here"


def bearer(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    """Log in with OAUTHBEARER by the handler that the file names; without one Java makes unsecured tokens."""
    handler = reading.text(LOGIN_HANDLER)
    if handler not in _LOGINS:
        return _of_class(reading, handler, options)
    try:
        return _LOGINS[handler](reading, options)
    except known_logins.OptionUnknown:
        if not has_class(reading.class_path, handler):
            raise
        return _of_class(reading, handler, options)


def _of_class(reading: PropertyReading, name: str, options: Mapping[str, str]) -> FieldValues:
    """Give the user's own class, in the driver's JVM, what Java's client would give it."""
    if not has_class(reading.class_path, name):
        error = ConfigurationError(
            f"{LOGIN_HANDLER}={name} is not supported: it is Java code, and neither CLASSPATH nor "
            "--handler.classpath has it"
        )
        error.property_name = LOGIN_HANDLER
        raise error
    configs = {key: list(value) if isinstance(value, tuple) else value for key, value in reading.values.items()}
    login = {
        "class": name,
        "class_path": list(reading.class_path),
        "module": f"{_OAUTH}OAuthBearerLoginModule",
        "options": dict(options),
        "configs": configs,
    }
    return {"sasl.mechanism": "OAUTHBEARER", "oauth.login_class": Secret(json.dumps(login))}


def _oidc(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    url = reading.text(TOKEN_URL)
    if not url.startswith(("http://", "https://")):
        with blamed(TOKEN_URL):
            raise ConfigurationError(f"{TOKEN_URL} must be the http or https address of a token service")
    own = sorted(name for name in options if name.startswith("ssl.") and name not in known_logins.TRUST_OPTIONS)
    if own:
        raise ConfigurationError(
            f"sasl.jaas.config: the option {own[0]} is not supported: of a token service only the trust store is read"
        )
    sent = _url_encoded if reading.boolean(_URL_ENCODED, False) else str
    client = sent(reading.text(f"{_CREDENTIALS}client.id") or options.get("clientId", ""))
    secret = sent(reading.text(f"{_CREDENTIALS}client.secret") or options.get("clientSecret", ""))
    if not client or not secret:
        raise ConfigurationError("sasl.jaas.config must have the options clientId and clientSecret")
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "oauth.method": "oidc",
        "oauth.token_url": url,
        "oauth.client_id": client,
        "oauth.client_secret": Secret(secret),
        "oauth.scope": reading.text("sasl.oauthbearer.scope") or options.get("scope") or None,
        "oauth.extensions": known_logins.joined_extensions(_EXTENSION, options),
        **known_logins.token_trust("", lambda name: options.get(name, "")),
    }


def _url_encoded(text: str) -> str:
    """Return the text as Java's URLEncoder writes it, before the header makes base64 of it."""
    return quote_plus(text, safe="*").replace("~", "%7E")


def _unsecured(_: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    claim = options.get("unsecuredLoginPrincipalClaimName", "sub")
    principal = options.get(f"unsecuredLoginStringClaim_{claim}")
    if not principal:
        raise ConfigurationError(
            f"sasl.jaas.config must have the option unsecuredLoginStringClaim_{claim}, or the file the class of a "
            f"token service's client, {_OIDC_HANDLERS[0]}, in sasl.login.callback.handler.class"
        )
    words = {"principal": principal}
    words |= {word: options[name] for name, word in _UNSECURED.items() if name in options}
    for name, text in options.items():
        if name.startswith(_UNSECURED_EXTENSION):
            words[f"extension_{name.removeprefix(_UNSECURED_EXTENSION)}"] = text
    if any(re.search(r"\s", text) for text in words.values()):
        raise ConfigurationError("sasl.jaas.config: the claims of an unsecured token cannot hold blanks")
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "oauth.unsecured": True,
        "oauth.claims": " ".join(f"{word}={text}" for word, text in words.items()),
    }


def msk_iam(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    """Log in with AWS_MSK_IAM, which MSK accepts as OAUTHBEARER with a signed token."""
    if find_spec(MSK_SIGNER) is None:
        with blamed("sasl.mechanism"):
            raise ConfigurationError(f"logins by AWS IAM need a package that is not there: pip install {_MSK_PACKAGE}")
    unknown = sorted(set(options) - set(_MSK_OPTIONS) - _MSK_HARMLESS)
    if unknown:
        raise ConfigurationError(f"sasl.jaas.config: the option {unknown[0]} is not supported")
    found = _MSK_REGION.search(",".join(reading.words("bootstrap.servers")))
    region = found[1] if found else os.environ.get("AWS_REGION", os.environ.get("AWS_DEFAULT_REGION", ""))
    if not region:
        with blamed("bootstrap.servers"):
            raise ConfigurationError("logins by AWS IAM need a region: the broker names hold none, so set AWS_REGION")
    given = {word: options[name] for name, word in _MSK_OPTIONS.items() if name in options}
    return {"sasl.mechanism": "OAUTHBEARER", "oauth.msk_iam": MskIamSettings(region, **given)}


_LOGINS: Mapping[str, Callable[[PropertyReading, Mapping[str, str]], FieldValues]] = {
    "": _unsecured,
    _UNSECURED_HANDLER: _unsecured,
    **dict.fromkeys(_OIDC_HANDLERS, _oidc),
    _MSK_LOGIN_HANDLER: msk_iam,
    known_logins.STRIMZI: known_logins.strimzi,
    known_logins.CONFLUENT: known_logins.confluent,
}
"""Java class -> how to do the same here."""
LOGIN_HANDLERS = tuple(_LOGINS)


RULES: Rules = (
    *(
        Rule(name, SecretText(), PartOf("sasl.mechanism"))
        for name in (TOKEN_URL, f"{_CREDENTIALS}client.id", f"{_CREDENTIALS}client.secret", "sasl.oauthbearer.scope")
    ),
    Rule(_URL_ENCODED, Boolean(), PartOf("sasl.mechanism")),
    Rule("sasl.oauthbearer.jwt.retriever.class", Text(), RefusedProperty(_NO_JWT_BEARER, _RETRIEVERS)),
    *(
        Rule(f"sasl.oauthbearer.assertion.{name}", SecretText(), Harmless(_NO_JWT_BEARER))
        for name in (
            "algorithm",
            "claim.aud",
            "claim.exp.seconds",
            "claim.iss",
            "claim.jti.include",
            "claim.nbf.seconds",
            "claim.sub",
            "file",
            "private.key.file",
            "private.key.passphrase",
            "template.file",
        )
    ),
    *(
        Rule(f"sasl.oauthbearer.{name}", Text(), Harmless(_CHECKED_BY_BROKERS))
        for name in (
            "clock.skew.seconds",
            "expected.audience",
            "expected.issuer",
            "jwks.endpoint.refresh.ms",
            "jwks.endpoint.retry.backoff.max.ms",
            "jwks.endpoint.retry.backoff.ms",
            "jwks.endpoint.url",
            "jwt.validator.class",
            "scope.claim.name",
            "sub.claim.name",
        )
    ),
)
"""Rows that only logins with a token read."""

"""TLS and logins of a cluster in Strimzi's resource, as properties of a client; Secrets are references."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties.known_logins import STRIMZI
from legacy_mm.words.mirror_maker_2.strimzi_section import Section

SECRETS = "strimzisecrets"
"""The operator's alias of the provider that looks up Secrets."""
_OF_CUSTOM_LOGIN = ("ssl.keystore.", "sasl.")
"""Beginnings of the keys that the operator passes on from a login of type custom."""
_LOGIN_MODULES: Mapping[str, tuple[str, str]] = {
    "plain": ("PLAIN", "org.apache.kafka.common.security.plain.PlainLoginModule"),
    "scram-sha-256": ("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule"),
    "scram-sha-512": ("SCRAM-SHA-512", "org.apache.kafka.common.security.scram.ScramLoginModule"),
}
_OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_OAUTH_OPTIONS: Mapping[str, str] = {
    "clientId": "oauth.client.id",
    "username": "oauth.password.grant.username",
    "tokenEndpointUri": "oauth.token.endpoint.uri",
    "scope": "oauth.scope",
    "audience": "oauth.audience",
    "connectTimeoutSeconds": "oauth.connect.timeout.seconds",
    "readTimeoutSeconds": "oauth.read.timeout.seconds",
    "httpRetries": "oauth.http.retries",
    "httpRetryPauseMs": "oauth.http.retry.pause.millis",
    "maxTokenExpirySeconds": "oauth.max.token.expiry.seconds",
    "accessTokenLocation": "oauth.access.token.location",
    "clientAssertionLocation": "oauth.client.assertion.location",
    "clientAssertionType": "oauth.client.assertion.type",
}
_OAUTH_SECRETS: Mapping[str, tuple[str, str]] = {
    "clientSecret": ("oauth.client.secret", "key"),
    "accessToken": ("oauth.access.token", "key"),
    "refreshToken": ("oauth.refresh.token", "key"),
    "clientAssertion": ("oauth.client.assertion", "key"),
    "passwordSecret": ("oauth.password.grant.password", "password"),
}
"""Field of a login of type oauth -> the option of Strimzi's login; of a Secret, also the field with its key."""


def security(cluster: Section, namespace: str) -> dict[str, str]:
    """Return the client properties for TLS and the login of a cluster."""
    tls, login = cluster.section("tls"), cluster.section("authentication")
    found: dict[str, str] = {}
    if tls is not None and (trusted := tls.sections("trustedCertificates")):
        found["ssl.truststore.certificates"] = "\n".join(
            _secret(each, each.optional("certificate", "pattern") or each.text("certificate"), namespace)
            for each in trusted
        )
        found["ssl.truststore.type"] = "PEM"
    uses_sasl = False
    if login is not None:
        uses_sasl, of_login = _login(login, namespace)
        found |= of_login
    encryption = "PLAINTEXT" if tls is None else "SSL"
    return {**found, "security.protocol": f"SASL_{encryption}" if uses_sasl else encryption}


def _login(login: Section, namespace: str) -> tuple[bool, dict[str, str]]:
    """Return True for SASL, and the properties of a login."""
    kind = login.text("type")
    if kind == "tls":
        store = login.required("certificateAndKey")
        return False, {
            "ssl.keystore.certificate.chain": _secret(store, store.text("certificate"), namespace),
            "ssl.keystore.key": _secret(store, store.text("key"), namespace),
            "ssl.keystore.type": "PEM",
        }
    if kind == "custom":
        own = {name: text for name, text in login.config().items() if name.lower().startswith(_OF_CUSTOM_LOGIN)}
        return login.optional("sasl") == "true", own
    if kind == "oauth":
        return True, _oauth(login, namespace)
    if kind not in _LOGIN_MODULES:
        possible = ", ".join(("tls", *_LOGIN_MODULES, "oauth", "custom"))
        raise ConfigurationError(
            f"{login.place}.type={kind} is not possible: possible are {possible}; with custom, config holds the sasl. "
            "properties of any login that Kafka's clients know"
        )
    mechanism, module = _LOGIN_MODULES[kind]
    password = login.required("passwordSecret")
    words = f'username="{login.text("username")}" password="{_secret(password, password.text("password"), namespace)}"'
    return True, {"sasl.mechanism": mechanism, "sasl.jaas.config": f"{module} required {words};"}


def _oauth(login: Section, namespace: str) -> dict[str, str]:
    """Return the properties of a token login, whose options are judged where a client's properties are read."""
    if login.sections("tlsTrustedCertificates"):
        raise ConfigurationError(
            f"{login.place}.tlsTrustedCertificates is not possible: write type custom with sasl: true, and in its "
            "config a sasl.jaas.config with the option oauth.ssl.truststore.location"
        )
    options = {option: text for name, option in _OAUTH_OPTIONS.items() if (text := login.optional(name)) is not None}
    for name, (option, key) in _OAUTH_SECRETS.items():
        if (secret := login.section(name)) is not None:
            options[option] = _secret(secret, secret.text(key), namespace)
    if (extensions := login.section("saslExtensions")) is not None:
        options |= {f"oauth.sasl.extension.{name}": extensions.text(name) for name in extensions.given}
    if login.optional("disableTlsHostnameVerification") == "true":
        options["oauth.ssl.endpoint.identification.algorithm"] = ""
    words = " ".join(f'{option}="{text}"' for option, text in options.items())
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{_OAUTH_MODULE} required {words};",
        "sasl.login.callback.handler.class": STRIMZI,
    }


def _secret(named: Section, key: str, namespace: str) -> str:
    """Return a reference to a key of a Secret."""
    return f"${{{SECRETS}:{namespace}/{named.text('secretName')}:{key}}}"

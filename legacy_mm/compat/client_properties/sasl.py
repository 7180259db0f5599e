"""SASL properties (config-map 2.2): PLAIN and SCRAM; everything else is refused by name."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.compat import jaas
from legacy_mm.compat.client_properties.rule import (
    Computed,
    Emitted,
    Forgotten,
    Harmless,
    PartOf,
    Reading,
    Refused,
    Rule,
    Rules,
    Secret,
    Text,
)
from legacy_mm.errors import ConfigurationError

_MODULES = "org.apache.kafka.common.security."
_MECHANISM_MODULES: Mapping[str, str] = {
    "PLAIN": _MODULES + "plain.PlainLoginModule",
    "SCRAM-SHA-256": _MODULES + "scram.ScramLoginModule",
    "SCRAM-SHA-512": _MODULES + "scram.ScramLoginModule",
}
_NOT_YET = "not supported yet"
_ONLY_GSSAPI = "read only with sasl.mechanism=GSSAPI"
_ONLY_OAUTH = "read only with sasl.mechanism=OAUTHBEARER"


def _login(reading: Reading) -> Emitted:
    mechanism = reading.text("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISM_MODULES:
        raise ConfigurationError(
            f"sasl.mechanism {mechanism} is {_NOT_YET}; possible are "
            f"{', '.join(_MECHANISM_MODULES)}"
        )
    if not reading.text("sasl.jaas.config"):
        raise ConfigurationError(
            f"sasl.jaas.config is missing: a login file named to Java alone is {_NOT_YET}"
        )
    module = jaas.parse(reading.text("sasl.jaas.config"))
    if module.name != _MECHANISM_MODULES[mechanism]:
        raise ConfigurationError(
            f"sasl.jaas.config: a login module other than {_MECHANISM_MODULES[mechanism]} is "
            f"{_NOT_YET} with sasl.mechanism {mechanism}"
        )
    if module.options.get("tokenauth", "false").lower() == "true":
        raise ConfigurationError(f"sasl.jaas.config: tokenauth is {_NOT_YET}")
    if not module.options.get("username") or "password" not in module.options:
        raise ConfigurationError("sasl.jaas.config must have the options username and password")
    return {
        "sasl.mechanism": mechanism,
        "sasl.username": module.options["username"],
        "sasl.password": module.options["password"],
    }


RULES: Rules = (
    Rule("sasl.mechanism", Text(), Computed(_login, always=True), reason="with name and password of sasl.jaas.config"),
    Rule("sasl.jaas.config", Secret(), PartOf("sasl.mechanism")),
    Rule("sasl.client.callback.handler.class", Text(), Refused(_NOT_YET, ("",))),
    Rule("sasl.login.callback.handler.class", Text(), Refused(_NOT_YET, ("",))),
    Rule("sasl.login.class", Text(), Refused("it is Java code", ("",))),
    Rule("sasl.enabled.mechanisms", Text(), Forgotten()),
    Rule("sasl.kerberos.principal.to.local.rules", Text(), Forgotten()),
    *(
        Rule(f"sasl.kerberos.{name}", Text(), Harmless(_ONLY_GSSAPI))
        for name in (
            "kinit.cmd",
            "min.time.before.relogin",
            "service.name",
            "ticket.renew.jitter",
            "ticket.renew.window.factor",
        )
    ),
    *(
        Rule(f"sasl.login.{name}", Text(), Harmless(_ONLY_OAUTH))
        for name in (
            "connect.timeout.ms",
            "read.timeout.ms",
            "refresh.buffer.seconds",
            "refresh.min.period.seconds",
            "refresh.window.factor",
            "refresh.window.jitter",
            "retry.backoff.max.ms",
            "retry.backoff.ms",
        )
    ),
    *(
        Rule(f"sasl.oauthbearer.{name}", Secret(), Harmless(_ONLY_OAUTH))
        for name in (
            "assertion.algorithm",
            "assertion.claim.aud",
            "assertion.claim.exp.seconds",
            "assertion.claim.iss",
            "assertion.claim.jti.include",
            "assertion.claim.nbf.seconds",
            "assertion.claim.sub",
            "assertion.file",
            "assertion.private.key.file",
            "assertion.private.key.passphrase",
            "assertion.template.file",
            "client.credentials.client.id",
            "client.credentials.client.secret",
            "clock.skew.seconds",
            "expected.audience",
            "expected.issuer",
            "header.urlencode",
            "jwks.endpoint.refresh.ms",
            "jwks.endpoint.retry.backoff.max.ms",
            "jwks.endpoint.retry.backoff.ms",
            "jwks.endpoint.url",
            "jwt.retriever.class",
            "jwt.validator.class",
            "scope",
            "scope.claim.name",
            "sub.claim.name",
            "token.endpoint.url",
        )
    ),
)
"""Rows of SASL, wherever the protocol uses it."""

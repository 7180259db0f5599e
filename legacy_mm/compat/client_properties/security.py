"""Security properties (config-map 2): TLS with PEM, PLAIN and SCRAM; everything else is refused by
name.

A property counts only where `security.protocol` uses it, in Java as here. PEM files are read at
once, as Java reads them, and travel as text: a task on another host has no such file.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

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
    TextList,
)
from legacy_mm.errors import ConfigurationError

_MODULES = "org.apache.kafka.common.security."
_MECHANISM_MODULES: Mapping[str, str] = {
    "PLAIN": _MODULES + "plain.PlainLoginModule",
    "SCRAM-SHA-256": _MODULES + "scram.ScramLoginModule",
    "SCRAM-SHA-512": _MODULES + "scram.ScramLoginModule",
}
_PEM_BLOCK = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]+)-----(?P<body>.*?)-----END (?P=kind)-----", re.DOTALL
)
_PEM_COLUMNS = 64
_ANY_TLS_VERSION = {"TLSv1.2", "TLSv1.3"}
_NOT_CONFIGURABLE = ("TLS_AES_", "TLS_CHACHA20_", "TLS_EMPTY_RENEGOTIATION_INFO_SCSV")
_NOT_YET = "not supported yet"
_TRAVELS = "read at once and handed on as text: a copy task may run on another host"
_TLS_VERSIONS = "TLSv1.2 and TLSv1.3 are used"
_ONLY_JSSE = "it belongs to Java's TLS"
_ONLY_GSSAPI = "read only with sasl.mechanism=GSSAPI"
_ONLY_OAUTH = "read only with sasl.mechanism=OAUTHBEARER"


def uses_tls(reading: Reading) -> bool:
    """The connection is encrypted."""
    return reading.text("security.protocol", "plaintext") in ("ssl", "sasl_ssl")


def uses_sasl(reading: Reading) -> bool:
    """The client logs in."""
    return reading.text("security.protocol", "plaintext") in ("sasl_plaintext", "sasl_ssl")


def _truststore(reading: Reading) -> Emitted:
    certificates = reading.text("ssl.truststore.certificates")
    location = reading.text("ssl.truststore.location")
    if not certificates and not location:
        return {}
    _require_pem(reading, "ssl.truststore")
    if certificates and location:
        raise ConfigurationError(
            "ssl.truststore.location and ssl.truststore.certificates exclude each other"
        )
    if reading.text("ssl.truststore.password"):
        raise ConfigurationError("ssl.truststore.password is not possible with a PEM truststore")
    name = "ssl.truststore.certificates" if certificates else "ssl.truststore.location"
    text = certificates or _read("ssl.truststore.location", location)
    return {"ssl.ca.pem": _pem(name, text, "CERTIFICATE")}


def _keystore(reading: Reading) -> Emitted:
    key = reading.text("ssl.keystore.key")
    chain = reading.text("ssl.keystore.certificate.chain")
    location = reading.text("ssl.keystore.location")
    if not (key or chain or location):
        return {}
    _require_pem(reading, "ssl.keystore")
    if location and (key or chain):
        raise ConfigurationError("ssl.keystore.location and ssl.keystore.key exclude each other")
    if reading.text("ssl.keystore.password"):
        raise ConfigurationError(
            "ssl.keystore.password is not possible with a PEM keystore; use ssl.key.password"
        )
    key_name, chain_name = "ssl.keystore.key", "ssl.keystore.certificate.chain"
    if location:
        key = chain = _read("ssl.keystore.location", location)
        key_name = chain_name = "ssl.keystore.location"
    emitted = {
        "ssl.key.pem": _pem(key_name, key, "PRIVATE KEY"),
        "ssl.certificate.pem": _pem(chain_name, chain, "CERTIFICATE"),
    }
    password = reading.text("ssl.key.password")
    return {**emitted, "ssl.key.password": password} if password else emitted


def _require_pem(reading: Reading, store: str) -> None:
    kind = reading.text(f"{store}.type", "JKS")
    if kind != "PEM":
        raise ConfigurationError(
            f"{store}.type {kind} is {_NOT_YET}: export the store to PEM and set {store}.type=PEM"
        )


def _read(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigurationError(f"{name}: {path} cannot be read: {error.strerror}") from None


def _pem(name: str, text: str, kind: str) -> str:
    """The blocks of one kind, each in lines of 64 columns: a file may have them all in one line."""
    blocks = []
    for block in _PEM_BLOCK.finditer(text):
        if not block["kind"].endswith(kind):
            continue
        headers, _, body = block["body"].rpartition("\n\n")
        if "Proc-Type" in headers:
            raise ConfigurationError(f"{name}: a PKCS#1 key with a password is {_NOT_YET}")
        packed = "".join(body.split())
        lines = [
            packed[start : start + _PEM_COLUMNS] for start in range(0, len(packed), _PEM_COLUMNS)
        ]
        label = block["kind"]
        blocks.append("\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----\n"]))
    if not blocks:
        raise ConfigurationError(f"{name} holds no PEM block of the kind {kind}")
    return "".join(blocks)


def _host_check(reading: Reading) -> Emitted:
    word = reading.text("ssl.endpoint.identification.algorithm", "https").lower()
    if word not in ("", "none", "https"):
        raise ConfigurationError(
            "ssl.endpoint.identification.algorithm is either https or empty (no check)"
        )
    return {"ssl.endpoint.identification.algorithm": word or "none"}


def _cipher_suites(reading: Reading) -> Emitted:
    given = [name for name in reading.words("ssl.cipher.suites") if name]
    kept = [name for name in given if not name.startswith(_NOT_CONFIGURABLE)]
    if given and not kept:
        reading.note(
            "ssl.cipher.suites has no effect here: suites of TLS 1.3 cannot be chosen.",
            logging.WARNING,
        )
    return {"ssl.cipher.suites": ":".join(kept)} if kept else {}


def _enabled_protocols(reading: Reading) -> Emitted:
    enabled = {name for name in reading.words("ssl.enabled.protocols") if name}
    if enabled and "TLSv1.2" not in enabled:
        raise ConfigurationError(
            f"ssl.enabled.protocols without TLSv1.2 is {_NOT_YET}: this client would still use it"
        )
    if enabled and enabled != _ANY_TLS_VERSION:
        reading.note(
            "ssl.enabled.protocols has no effect here: TLSv1.2 and TLSv1.3 are used.",
            logging.WARNING,
        )
    return {}


def _login(reading: Reading) -> Emitted:
    mechanism = reading.text("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISM_MODULES:
        raise ConfigurationError(
            f"sasl.mechanism {mechanism} is {_NOT_YET}; possible are "
            f"{', '.join(_MECHANISM_MODULES)}"
        )
    if not reading.text("sasl.jaas.config"):
        raise ConfigurationError(jaas.no_entry(None))
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


_TLS_ROWS: Rules = (
    Rule("ssl.truststore.location", Text(), Computed(_truststore), reason=_TRAVELS),
    Rule("ssl.truststore.certificates", Secret(), Computed(_truststore), reason=_TRAVELS),
    Rule("ssl.truststore.type", Text(), PartOf("ssl.truststore.location")),
    Rule("ssl.truststore.password", Secret(), PartOf("ssl.truststore.location")),
    Rule("ssl.keystore.location", Text(), Computed(_keystore), reason=_TRAVELS),
    Rule("ssl.keystore.key", Secret(), Computed(_keystore), reason=_TRAVELS),
    Rule("ssl.keystore.certificate.chain", Secret(), Computed(_keystore), reason=_TRAVELS),
    Rule("ssl.keystore.type", Text(), PartOf("ssl.keystore.location")),
    Rule("ssl.keystore.password", Secret(), PartOf("ssl.keystore.location")),
    Rule("ssl.key.password", Secret(), PartOf("ssl.keystore.location")),
    Rule(
        "ssl.endpoint.identification.algorithm",
        Text(),
        Computed(_host_check, always=True),
        reason="empty means no check, here none",
    ),
    Rule("ssl.cipher.suites", TextList(), Computed(_cipher_suites), reason="suites of TLS 1.3 cannot be chosen"),
    Rule("ssl.enabled.protocols", TextList(), Computed(_enabled_protocols), reason=_TLS_VERSIONS),
    Rule(
        "ssl.protocol",
        Text(),
        Refused(_TLS_VERSIONS, ("TLS", "TLSv1.2", "TLSv1.3")),
    ),
    Rule("ssl.engine.factory.class", Text(), Refused("it is Java code", ("",))),
    Rule("ssl.keymanager.algorithm", Text(), Harmless(_ONLY_JSSE, ("SunX509",))),
    Rule("ssl.trustmanager.algorithm", Text(), Harmless(_ONLY_JSSE, ("PKIX",))),
    Rule("ssl.provider", Text(), Harmless(_ONLY_JSSE, ("",))),
    Rule("ssl.secure.random.implementation", Text(), Harmless(_ONLY_JSSE, ("",))),
    Rule("security.providers", Text(), Harmless(_ONLY_JSSE, ("",))),
    Rule("ssl.client.auth", Text(), Forgotten()),
)
_SASL_ROWS: Rules = (
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
RULES: Rules = (
    *(replace(row, applies=uses_tls) for row in _TLS_ROWS),
    *(replace(row, applies=uses_sasl) for row in _SASL_ROWS),
)
"""Rows of every security property both clients share."""

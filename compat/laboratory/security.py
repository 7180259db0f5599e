"""A cluster with a listener for every kind of security, and the client properties that open them.

Brokers trust every client at PLAINTEXT, which the tests use. Other clients may use any topic without ACLs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from compat.laboratory.certificates import PASSWORD, Authority, convert, made_once
from compat.laboratory.cluster import Cluster
from compat.laboratory.topic_state import AUTHORIZER, add_rules

USER, USER_PASSWORD = "mirror", 'pass "word" \\ of mirror'
BLANK_USER, BLANK_PASSWORD = "blank", " begins with a blank"
LISTENERS: Mapping[str, str] = {
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "EXPIRED": "SSL",
    "ELSEWHERE": "SSL",
    "LOGIN": "SASL_PLAINTEXT",
    "SHORT": "SASL_PLAINTEXT",
    "BOTH": "SASL_SSL",
}
SHORT_LOGIN_LIFE = 60
"""A login at the listener SHORT lasts so long."""
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_REQUEST_TIMEOUT = 30.0
_MODULES = "org.apache.kafka.common.security."
_CERTIFICATES = {"EXPIRED": "expired", "ELSEWHERE": "elsewhere"}
_GOOD = "broker"
_EXPIRED = ("-startdate", "-2d", "-validity", "1")


@dataclass(frozen=True)
class Stores:
    """The files of one authority: keys of brokers and clients, and the clients' trust."""

    folder: Path

    @property
    def certificate(self) -> Path:
        """The authority's, as PEM."""
        return self.folder / "authority.pem"

    def trust(self, kind: str = "JKS") -> dict[str, str]:
        """Return client properties that trust the authority."""
        return _store("truststore", self.folder / f"trust.{kind.lower()}", kind)

    def identity(self, kind: str = "JKS") -> dict[str, str]:
        """Return client properties that show the key of `USER`."""
        return _store("keystore", self.folder / f"{USER}.{kind.lower()}", kind)

    def broker(self, name: str) -> dict[str, str]:
        """Return server properties of one listener's key."""
        return _store("keystore", self.folder / f"{name}.p12", "PKCS12") | self.trust()


def make_stores(folder: Path) -> Stores:
    """Copy everything there: two formats for clients, three certificates for brokers."""
    made_once(folder, Path(__file__), _generate)
    return Stores(folder)


def secured_cluster(folder: Path, stores: Stores) -> Cluster:
    """Return one broker with all of `LISTENERS`, an authorizer, and the user `USER` in every mechanism."""
    properties = dict(AUTHORIZER)
    for name, protocol in LISTENERS.items():
        own = {"ssl.client.auth": "required"} if name == "MUTUAL" else {}
        if protocol.endswith("SSL"):
            own |= stores.broker(_CERTIFICATES.get(name, _GOOD))
        if protocol.startswith("SASL"):
            properties |= login_listener(name)
        if name == "SHORT":
            own |= {"plain.connections.max.reauth.ms": f"{SHORT_LOGIN_LIFE * 1000}"}
        properties |= {f"listener.name.{name.lower()}.{key}": text for key, text in own.items()}
    users = [f"--add-scram={mechanism}=[name={USER},password={USER_PASSWORD}]" for mechanism in SCRAM]
    return Cluster(folder, properties=properties, listeners=LISTENERS, format_options=users)


def login(mechanism: str, password: str = USER_PASSWORD, user: str = USER) -> dict[str, str]:
    """Return client properties that log in as this user."""
    if mechanism == "OAUTHBEARER":
        options = f'unsecuredLoginStringClaim_sub="{user}"'
    else:
        options = f"username={user} password={_quoted(password)}"
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": f"{_module(mechanism)} required {options};"}


def change_password(cluster: Cluster, password: str) -> None:
    """Change the password of `USER` for SCRAM-SHA-256."""
    kind = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    change = UserScramCredentialUpsertion(USER, kind, password.encode())
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for answer in admin.alter_user_scram_credentials([change]).values():
        answer.result(_REQUEST_TIMEOUT)


def forbid_records(cluster: Cluster, topic: str) -> None:
    """Let `USER` see the topic, but neither read nor write it."""
    add_rules(cluster.bootstrap, [(topic, "LITERAL", f"User:{USER}", "*", "DESCRIBE", "ALLOW")])


def login_listener(name: str) -> dict[str, str]:
    """Return server properties of a listener, SASL_PLAINTEXT or SASL_SSL, at which `USER` may log in."""
    return {f"listener.name.{name.lower()}.{key}": text for key, text in _logins().items()}


def _generate(folder: Path) -> None:
    authority = Authority(folder)
    authority.key(f"{_GOOD}.p12", "PKCS12", owner=_GOOD, host="ip:127.0.0.1,dns:localhost")
    authority.key("expired.p12", "PKCS12", owner="expired", host="ip:127.0.0.1", valid=_EXPIRED)
    authority.key("elsewhere.p12", "PKCS12", owner="elsewhere", host="dns:elsewhere.invalid")
    convert(authority.trust("trust.pkcs12", "PKCS12"), folder / "trust.jks", "JKS")
    convert(authority.key(f"{USER}.pkcs12", "PKCS12", owner=USER), folder / f"{USER}.jks", "JKS")


def _logins() -> dict[str, str]:
    users = {USER: USER_PASSWORD, BLANK_USER: BLANK_PASSWORD}
    plain = " ".join(f"user_{name}={_quoted(password)}" for name, password in users.items())
    plain = f"{_module('PLAIN')} required {plain};"
    token = f'{_module("OAUTHBEARER")} required unsecuredLoginStringClaim_sub="broker";'
    validator = _MODULES + "oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
    return {
        "sasl.enabled.mechanisms": ",".join(["PLAIN", *SCRAM, "OAUTHBEARER"]),
        "plain.sasl.jaas.config": plain,
        **{f"{mechanism.lower()}.sasl.jaas.config": f"{_module(mechanism)} required;" for mechanism in SCRAM},
        "oauthbearer.sasl.jaas.config": token,
        "oauthbearer.sasl.server.callback.handler.class": validator,
    }


def _module(mechanism: str) -> str:
    rows = {"PLAIN": "plain.PlainLoginModule", "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule"}
    return _MODULES + rows.get(mechanism, "scram.ScramLoginModule")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _store(store: str, file: Path, kind: str) -> dict[str, str]:
    return {f"ssl.{store}.location": str(file), f"ssl.{store}.type": kind, f"ssl.{store}.password": PASSWORD}

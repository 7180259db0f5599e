"""The settings of Kafka clients: the connection to a cluster, and what a consumer and a producer have besides.

Times are seconds (inf: for ever), sizes are bytes. Defaults stand here and nowhere else: they are those of the legacy
tool's clients, where they have one. A path such as `fetch.max_wait` names a field by its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from math import inf
from typing import Any

from legacy_mm.base.secret import Secret

KERBEROS = "GSSAPI"
_BY_KEY = "murmur2_random"
"""librdkafka's name of what Kafka's default partitioner does."""
_MOST = (1 << 31) - 1


class SecurityProtocol(Enum):
    """`security.protocol`."""

    PLAINTEXT = "plaintext"
    SSL = "ssl"
    SASL_PLAINTEXT = "sasl_plaintext"
    SASL_SSL = "sasl_ssl"

    @property
    def encrypted(self) -> bool:
        """True for TLS."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def logs_in(self) -> bool:
        """True for SASL."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Certificates and keys: whom we trust, and who we are. A text (PEM) comes before a file."""

    ca_pem: str | None = None
    ca_location: str | None = None
    """A file, a folder, or `probe` for the system's own."""
    crl_location: str | None = None
    certificate_pem: str | None = None
    certificate_location: str | None = None
    key_pem: Secret | None = None
    key_location: str | None = None
    key_password: Secret | None = None
    cipher_suites: str | None = None
    verifies: bool = True
    """False: any certificate of a broker is as good."""
    endpoint_identification: str = "https"
    """`https`: a broker's certificate must name its host."""


@dataclass(frozen=True, slots=True)
class KerberosSettings:
    """The ticket of a Kerberos login, and its place."""

    service: str = "kafka"
    principal: str | None = None
    keytab: str | None = None
    ticket_cache: str | None = None
    realms: str | None = None
    """The krb5.conf."""


@dataclass(frozen=True, slots=True)
class MskIamSettings:
    """The identity of an IAM login to Amazon MSK: of this host, of a profile, or of a role."""

    region: str
    profile: str | None = None
    role: str | None = None
    """An ARN; a role comes before a profile."""
    session: str = "legacy_mm"
    """The name under which the role is taken."""


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """The token of an OAUTHBEARER login, and the way to get it."""

    method: str | None = None
    """`oidc`: of the token service at `token_url`."""
    grant_type: str = "client_credentials"
    token_url: str | None = None
    client_id: str | None = None
    client_secret: Secret | None = None
    scope: str | None = None
    extensions: str = ""
    """`name=value`, with commas between."""
    unsecured: bool = False
    """A token that nobody has signed is made here, with the claims of `claims`."""
    claims: str = ""
    """`name=value`, with blanks between."""
    ca_pem: str | None = None
    """Trusted where a token service is asked over HTTPS."""
    ca_location: str | None = None
    msk_iam: MskIamSettings | None = None
    """Log in to Amazon MSK by IAM."""
    token: Secret | None = None
    """A token that was fetched elsewhere."""
    token_file: str | None = None
    """A file that holds one, and is read again before it ends."""
    audience: str | None = None
    """Whom the token is for. Not None, even if empty: the service at `token_url` is asked by ourselves, because
    librdkafka names no audience, and takes no token that is not a JSON web token.
    """
    metadata_service_urls: str | None = None
    """Addresses of Confluent's metadata service, which gives a token to the user of `SaslSettings`."""
    login_class: Secret | None = None
    """A Java class of the user's that gives tokens.

    JSON: `class`, `class_path`, `module`, `options` (of the login module), `configs` (of the client). `keeper` replaces
    it before a client is made.
    """
    keeper: Secret | None = None
    """The address on loopback where the tokens of such a class are given."""

    @property
    def fetched_here(self) -> bool:
        """True for tokens that librdkafka cannot fetch itself."""
        given = (self.token, self.token_file, self.audience)
        ways = (self.msk_iam, self.metadata_service_urls, self.login_class, self.keeper)
        return any(way is not None for way in (*given, *ways))


@dataclass(frozen=True, slots=True)
class SaslSettings:
    """The login; it counts only where the protocol has one."""

    mechanism: str = KERBEROS
    username: str | None = None
    password: Secret | None = None
    delegation_token: bool = False
    """`username` is the id of a delegation token."""
    kerberos: KerberosSettings = KerberosSettings()
    oauth: OAuthSettings = OAuthSettings()


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """The way to a cluster, which all clients of it share."""

    bootstrap_servers: tuple[str, ...] = ()
    """`host:port`, `[IPv6]:port`."""
    client_id: str = ""
    """Empty: a name of our own, as each client says."""
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsSettings = TlsSettings()
    sasl: SaslSettings = field(default=SaslSettings(), repr=False)
    dns_lookup: str = "use_all_dns_ips"
    socket_timeout: float = 30.0
    """A broker that has not answered for so long is left (`request.timeout.ms`)."""
    setup_timeout: float = 30.0
    """The limit of TCP, TLS and login together."""
    reconnect_backoff: float = 0.05
    reconnect_backoff_max: float = 1.0
    retry_backoff: float = 0.1
    metadata_max_age: float = 300.0
    max_idle: float = 540.0
    max_response_bytes: int = _MOST
    keep_alive: bool = True
    send_buffer_bytes: int = 0
    """0: the system's choice."""
    receive_buffer_bytes: int = 0
    further: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Properties that only librdkafka reads, by its names."""

    def named(self, client_id: str) -> ConnectionSettings:
        """Return the settings of a client of this name."""
        return replace(self, client_id=client_id)


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """The fetch requests of a consumer, and what it keeps of their answers."""

    max_wait: float = 0.5
    min_bytes: int = 1
    max_bytes: int = 52_428_800
    partition_bytes: int = 1 << 20
    backlog_bytes: int = 32 << 20
    """The most that lies here and is not worked on yet."""
    committed_only: bool = False
    """Records of transactions that were aborted, or are open, are not read."""
    check_crcs: bool = True
    rack: str = ""


@dataclass(frozen=True, slots=True)
class MembershipSettings:
    """The membership in a consumer group."""

    group_id: str = ""
    instance_id: str | None = None
    protocol: str = "classic"
    """`classic` or `consumer`."""
    assignors: tuple[str, ...] = ("range",)
    session_timeout: float = 45.0
    heartbeat_interval: float = 3.0
    max_poll_interval: float = 300.0


@dataclass(frozen=True, slots=True)
class ProduceSettings:
    """The batches and requests of a producer."""

    acks: int = -1
    """-1: of all replicas that are in sync."""
    idempotent: bool = False
    in_flight: int = 5
    """Requests under way on one connection."""
    max_request_bytes: int = 1 << 20
    """The most bytes of a record, and of a batch of several."""
    batch_records: int = 10_000
    batch_bytes: int = 1_000_000
    buffer_bytes: int = 32 << 20
    linger: float = 0.001
    request_timeout: float = 30.0
    delivery_timeout: float = inf
    missing_topic_timeout: float = inf
    """A topic or partition that the target lacks is waited for so long (`max.block.ms`)."""
    retries: int = _MOST
    compression: str | None = None
    """None: for whole batches the codec that they have, else none."""
    compression_level: int | None = None
    partitioner: str = _BY_KEY

    @property
    def hashes_keys(self) -> bool:
        """Return False if records are spread over all partitions, whatever their keys."""
        return self.partitioner == _BY_KEY

    @property
    def joined_bytes(self) -> int:
        """The most bytes of a batch that is made of several; 0: none is."""
        return 0 if self.batch_records == 1 else self.batch_bytes


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """A consumer of one cluster."""

    connection: ConnectionSettings
    fetch: FetchSettings = FetchSettings()
    membership: MembershipSettings = MembershipSettings()
    further: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Properties that only librdkafka's consumer reads, by its names."""

    def named(self, client_id: str) -> ConsumerSettings:
        """Return the settings of a consumer of this name."""
        return replace(self, connection=self.connection.named(client_id))


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """A producer to one cluster."""

    connection: ConnectionSettings
    produce: ProduceSettings = ProduceSettings()

    def without_idempotence(self) -> ProducerSettings:
        """Return the settings of a producer that keeps the order without a producer id."""
        return replace(self, produce=replace(self.produce, idempotent=False, in_flight=1))


FieldValues = Mapping[str, Any]
"""Path -> value."""
PARTS: Mapping[str, type] = {
    "tls": TlsSettings,
    "kerberos": KerberosSettings,
    "oauth": OAuthSettings,
    "sasl": SaslSettings,
    "connection": ConnectionSettings,
    "fetch": FetchSettings,
    "membership": MembershipSettings,
    "produce": ProduceSettings,
}
"""The name of each part in a path; `consumer.further` is the one field of no part."""
_NAMES = {kind: name for name, kind in PARTS.items()} | {ConsumerSettings: "consumer", ProducerSettings: "producer"}

_HIDDEN = ("tls.ca_pem", "tls.certificate_pem", "oauth.ca_pem", "oauth.claims")


def connection_of(values: FieldValues) -> ConnectionSettings:
    """Return the connection that these fields of any client describe."""
    sasl = _part("sasl", values, kerberos=_part("kerberos", values), oauth=_part("oauth", values))
    made: ConnectionSettings = _part("connection", values, tls=_part("tls", values), sasl=sasl)
    return made


def consumer_of(values: FieldValues) -> ConsumerSettings:
    """Return the consumer that these fields describe."""
    further = values.get("consumer.further", {})
    return ConsumerSettings(connection_of(values), _part("fetch", values), _part("membership", values), further)


def producer_of(values: FieldValues) -> ProducerSettings:
    """Return the producer that these fields describe."""
    return ProducerSettings(connection_of(values), _part("produce", values))


def fields_of(settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each field of a client's settings."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if type(value) in _NAMES:
            yield from fields_of(value)
        else:
            yield f"{_NAMES[type(settings)]}.{each.name}", value


def secret_texts(values: FieldValues) -> set[str]:
    """Return the texts in these fields that no line may show."""
    hidden = {value.reveal() for value in values.values() if isinstance(value, Secret)}
    return hidden.union(values[path] for path in _HIDDEN if path in values)


def _part(name: str, values: FieldValues, **parts: Any) -> Any:
    own = {path.removeprefix(f"{name}."): value for path, value in values.items() if path.startswith(f"{name}.")}
    return PARTS[name](**own, **parts)

"""What is added to the legacy tool's words: file, line, key, what is allowed, and which line an old file lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, LegacyMMError
from legacy_mm.cli.parser import read_own_options
from legacy_mm.words.java_clients.client_properties.apply import CONSUMER_RULES, PRODUCER_RULES
from legacy_mm.words.java_clients.client_properties.rule import SecretText
from legacy_mm.words.legacy_tool import environment
from legacy_mm.words.legacy_tool.releases import grammar_of
from legacy_mm.words.legacy_tool.translate import MirrorRun, translate

KAFKA = "# a comment\nbootstrap.servers=127.0.0.1:1\n"
CONSUMER = KAFKA + "group.id=g\n"
WORDS = ("--consumer.config", "c.properties", "--producer.config", "p.properties", "--whitelist", "t")
CLASS = "org.apache.kafka.clients.consumer."
HUSH = "hush-hush"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(consumer: str = CONSUMER, producer: str = KAFKA, release: str = "3.9", *words: str) -> LegacyMMError | None:
    """What is wrong with these two files."""
    Path("c.properties").write_text(consumer)
    Path("p.properties").write_text(producer)
    try:
        outcome = translate(
            [*WORDS, *words], lambda own: read_own_options(own, {}), [], grammar_of(release), lambda _: None
        )
    except LegacyMMError as error:
        return error
    assert isinstance(outcome, MirrorRun)
    return None


def said(error: LegacyMMError | None) -> tuple[str, list[str]]:
    """The legacy tool's words, and ours below them."""
    assert error is not None
    return str(error).splitlines()[-1], getattr(error, "__notes__", [])


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("linger.ms=10k", "linger.ms must be a whole number from 0 to 9223372036854775807."),
        ("  acks = 2 ", "acks must be one of all, -1, 0, 1."),
        ("enable.idempotence=yes", "enable.idempotence must be true or false."),
        ("security.protocol=TLS", "one of SASL_SSL, PLAINTEXT, SSL, SASL_PLAINTEXT in any case."),
        ("partitioner.class=com.acme.P", "partitioner.class is the property that is refused."),
        ("retries=99999999999", "retries must be a whole number from 0 to 2147483647."),
    ],
)
def test_a_broken_value_has_one_line_with_file_line_key_and_what_is_allowed(line: str, hint: str) -> None:
    _, hints = said(start(producer=f"acks=all\n{KAFKA}\n{line}\n"))
    assert len(hints) == 1
    assert hints[0].startswith("p.properties:5: ")
    assert hints[0].endswith(hint)


def test_of_several_lines_the_last_is_named() -> None:
    _, hints = said(start(consumer=CONSUMER + "fetch.min.bytes=1\nfetch.min.bytes=\\\n  x\n"))
    assert hints[0].startswith("c.properties:5: fetch.min.bytes must be")


@pytest.mark.parametrize(
    ("line", "refusal", "hint"),
    [
        (
            "auto.offset.reset=smallest",
            "Invalid value smallest for configuration auto.offset.reset: String must be one of: latest, earliest, none",
            "must be one of latest, earliest, none; smallest is an old word for earliest.",
        ),
        (
            "auto.offset.reset=largest",
            "Invalid value largest for configuration auto.offset.reset: String must be one of: latest, earliest, none",
            "must be one of latest, earliest, none; largest is an old word for latest.",
        ),
        (
            "partition.assignment.strategy=roundrobin",
            "Caused by: java.lang.ClassNotFoundException: roundrobin",
            f"roundrobin is an old word for {CLASS}RoundRobinAssignor.",
        ),
        (
            "security.protocol=PLAINTEXTSASL",
            "String must be one of (case insensitive): SASL_SSL, PLAINTEXT, SSL, SASL_PLAINTEXT",
            "PLAINTEXTSASL is an old word for SASL_PLAINTEXT.",
        ),
    ],
)
def test_an_old_word_is_refused_as_3_9_refuses_it_and_today_s_word_is_said(line: str, refusal: str, hint: str) -> None:
    last, hints = said(start(consumer=CONSUMER + line + "\n"))
    assert last.endswith(refusal)
    assert len(hints) == 1
    assert hints[0].startswith("c.properties:4: " + line.partition("=")[0])
    assert hints[0].endswith(hint)


def test_names_of_old_clients_beside_today_s_change_nothing() -> None:
    """3.9 ignores them; so nothing is translated, whatever they say."""
    consumer = "zookeeper.connect=zk:2181\nfetch.message.max.bytes=7\nauto.commit.enable=true\nsocket.timeout.ms=x\n"
    producer = "metadata.broker.list=x:1\nrequest.required.acks=0\ncompression.codec=gzip\nproducer.type=async\n"
    assert start(CONSUMER + consumer, KAFKA + producer) is None


@pytest.mark.parametrize(
    ("release", "refusal"),
    [
        ("3.9", "No resolvable bootstrap urls given in bootstrap.servers"),
        ("1.0", 'Missing required configuration "bootstrap.servers" which has no default value.'),
    ],
)
def test_a_file_without_brokers_is_told_which_line_to_add(release: str, refusal: str) -> None:
    last, hints = said(start(producer="acks=all\nmetadata.broker.list=a:1,b:2\n", release=release))
    assert last.endswith(refusal)
    assert hints == [
        "p.properties:2: metadata.broker.list is not read by this release; add the line bootstrap.servers with the "
        "same addresses to the file."
    ]
    _, hints = said(start(producer="\ufeffbootstrap.servers=a:1\n", release=release))
    assert hints == [
        "p.properties begins with a byte order mark, which Java takes as letters: save it as UTF-8 without one."
    ]
    _, hints = said(start(producer="acks=all\n", release=release))
    assert hints == ["p.properties: bootstrap.servers is not in the file."]


def test_a_file_with_zookeeper_alone_is_told_which_line_to_add_or_which_release_to_name() -> None:
    file = "group.id=g\nzookeeper.connect=zk:2181\nauto.offset.reset=earliest\n"
    last, hints = said(start(consumer=file))
    assert last.endswith("No resolvable bootstrap urls given in bootstrap.servers")
    assert len(hints) == 1
    assert hints[0].startswith("c.properties:2: zookeeper.connect is not read by this release; add the line bootstrap.")
    assert "--legacy.release 1.1" in hints[0]
    assert start(file + "bootstrap.servers=127.0.0.1:1\n") is None
    old = file.replace("earliest", "smallest")
    _, hints = said(start(consumer=old))
    assert "c.properties:3: auto.offset.reset must be one of latest, earliest, none; smallest is" in hints[0]
    assert "c.properties:2: zookeeper.connect is not read by this release" in hints[0]
    assert start(old, KAFKA, "1.1", "--source.bootstrap.servers", "127.0.0.1:1") is None


def test_an_old_file_is_blamed_under_its_own_names() -> None:
    _, hints = said(
        start(
            "zookeeper.connect=zk:2181\ngroup.id=g\n",
            "metadata.broker.list=127.0.0.1:1\nrequest.required.acks=7\n",
            "0.8.2",
            "--source.bootstrap.servers=127.0.0.1:1",
        )
    )
    assert hints == ["p.properties:2: request.required.acks must be one of all, -1, 0, 1."]


def test_an_empty_group_is_named() -> None:
    _, hints = said(start(consumer=KAFKA + "group.id= \n"))
    assert hints == ["c.properties:3: group.id is the property that is refused."]


PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SASL = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism={}\nsasl.jaas.config={}\n"
TLS = "security.protocol=SSL\n{}\n"
OIDC = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId=a;"
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
TICKET = 'com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true serviceName="a";'
FAULTS = [
    (SASL.format("PLAIN", f'{PLAIN} username="u";'), 5, "sasl.jaas.config"),
    (SASL.format("PLAIN", f'{PLAIN} username="u" password="p"'), 5, "sasl.jaas.config"),
    (SASL.format("PLAIN", "com.acme.Login required;"), 5, "sasl.jaas.config"),
    (SASL.format("SCRAM-SHA-512", f'{PLAIN} username="u" password="p";'), 5, "sasl.jaas.config"),
    (SASL.format("PLAINTEXT", f'{PLAIN} username="u" password="p";'), 4, "sasl.mechanism"),
    (f"security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} username=u password=p;\n", 0, "sasl.mechanism"),
    ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n", 0, "sasl.jaas.config"),
    (SASL.format("GSSAPI", "com.sun.security.auth.module.Krb5LoginModule required;"), 5, "sasl.jaas.config"),
    (SASL.format("GSSAPI", TICKET) + "sasl.kerberos.service.name=b\n", 6, "sasl.kerberos.service.name"),
    (SASL.format("OAUTHBEARER", OIDC) + f"sasl.login.callback.handler.class={HANDLER}\n", 0,
     "sasl.oauthbearer.token.endpoint.url"),
    (SASL.format("OAUTHBEARER", OIDC) + f"sasl.login.callback.handler.class={HANDLER}\n"
     "sasl.oauthbearer.token.endpoint.url=http://t\n", 5, "sasl.jaas.config"),
    (SASL.format("OAUTHBEARER", OIDC.replace("clientId=a", "")), 5, "sasl.jaas.config"),
    (TLS.format("ssl.truststore.type=PEM\nssl.truststore.location=gone.pem"), 5, "ssl.truststore.location"),
    (TLS.format("ssl.truststore.password=p"), 4, "ssl.truststore.password"),
    (TLS.format("ssl.truststore.type=JKS\nssl.truststore.certificates=x"), 4, "ssl.truststore.type"),
    (TLS.format("ssl.truststore.certificates=x"), 4, "ssl.truststore.certificates"),
    (TLS.format("ssl.truststore.type=PEM\nssl.truststore.certificates=x"), 5, "ssl.truststore.certificates"),
    (TLS.format("ssl.keystore.location=k.jks"), 4, "ssl.keystore.location"),
    (TLS.format("ssl.keystore.password=p"), 4, "ssl.keystore.password"),
    (TLS.format("ssl.keystore.type=PEM\nssl.keystore.key=k"), 5, "ssl.keystore.key"),
    (TLS.format("ssl.keystore.type=PEM\nssl.keystore.certificate.chain=k"), 5, "ssl.keystore.certificate.chain"),
    ("librdkafka.max.in.flight=7\nlibrdkafka.transactional.id=x\n", 4, "librdkafka.transactional.id"),
    ("config.providers=f\nconfig.providers.f.class=com.acme.P\nretries=${f:/a:b}\n", 5, "retries"),
    ("config.providers=f\nconfig.providers.f.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
     "retries=${f:/gone/file:key}\n", 5, "retries"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "line", "name"), FAULTS)
def test_the_line_that_holds_the_fault_is_named(lines: str, line: int, name: str) -> None:
    """Not the one of the property that reads it."""
    _, hints = said(start(producer=KAFKA + lines))
    place = f"p.properties:{line}: {name} is the property that is refused"
    assert hints == [f"{place}." if line else f"p.properties: {name} is not in the file."]


REFUSED = "is the property that is refused"
IDEMPOTENT, HEARTBEAT = "enable.idempotence=true\n", "heartbeat.interval.ms=20000\n"
TOGETHER = [
    ("p", f"{IDEMPOTENT}acks=1\n", f"4: acks {REFUSED} beside enable.idempotence (line 3)."),
    ("p", f"retries=0\n{IDEMPOTENT}", f"3: retries {REFUSED} beside enable.idempotence (line 4)."),
    ("c", "session.timeout.ms=10\n", f"4: session.timeout.ms {REFUSED}."),
    ("c", f"{HEARTBEAT}session.timeout.ms=9000\n", f"ms {REFUSED} beside session.timeout.ms (line 5)."),
    ("c", "group.remote.assignor=uniform\n", f"4: group.remote.assignor {REFUSED}."),
]  # fmt: skip


@pytest.mark.parametrize(("side", "lines", "hint"), TOGETHER)
def test_what_is_wrong_together(side: str, lines: str, hint: str) -> None:
    """Each without which nothing would be wrong."""
    _, hints = said(start(CONSUMER + lines) if side == "c" else start(producer=KAFKA + lines))
    assert len(hints) == 1
    assert hints[0].endswith(hint)


def test_a_login_out_of_a_file_is_blamed_on_that_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("login.conf").write_text(f'KafkaClient {{ {PLAIN} username="u"; }};')
    java = environment.read({"KAFKA_OPTS": "-Djava.security.auth.login.config=login.conf"})
    Path("c.properties").write_text(CONSUMER)
    Path("p.properties").write_text(KAFKA + "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n")
    with pytest.raises(ConfigurationError) as refused:
        translate(WORDS, lambda own: read_own_options(own, {}), [], environment=java)
    assert refused.value.__notes__ == ["login.conf: the entry KafkaClient is the login that is refused."]


SECRETS = sorted({row.name for row in (*CONSUMER_RULES, *PRODUCER_RULES) if isinstance(row.type, SecretText)})
WITH_SECRETS = "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.keystore.type=PEM\nssl.truststore.type=PEM\n"


@pytest.mark.parametrize("name", [*SECRETS, "librdkafka.sasl.password", "librdkafka.group.id", "my.api.token"])
@pytest.mark.parametrize("broken", [f"{HUSH}", f"-----BEGIN {HUSH}", f'x required password="{HUSH}'])
def test_a_broken_secret_is_never_quoted(name: str, broken: str) -> None:
    for files in ((CONSUMER + WITH_SECRETS, KAFKA), (CONSUMER, KAFKA + WITH_SECRETS)):
        consumer, producer = (text + f"{name}={broken}\n" if WITH_SECRETS in text else text for text in files)
        error = start(consumer, producer)
        assert isinstance(error, ConfigurationError)
        assert HUSH not in "\n".join([str(error), *getattr(error, "__notes__", [])])
        assert HUSH not in repr(error)

"""Logins: what each mechanism becomes, and what is refused without a word of a secret."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest
from confluent_kafka import Producer

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import KerberosSettings
from legacy_mm.base.secret import Secret
from legacy_mm.base.settings import JavaStores, KeyStore
from legacy_mm.clients.librdkafka.client import MemberErrors, client_properties
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.clients.net.tokens import MSK_SIGNER
from legacy_mm.policies.logins import beyond_librdkafka
from legacy_mm.words.java_clients.client_properties.apply import Translated, apply
from legacy_mm.words.java_clients.client_properties.kerberos import with_realms
from tests.fixtures.client_settings import read_connection, texts

BASE = {"bootstrap.servers": "127.0.0.1:1"}
SASL = "org.apache.kafka.common.security."


def producer(file: Mapping[str, str] | None = None, **properties: str) -> Translated:
    named = {**(file or {}), **properties}
    return apply("producer", BASE | {name.replace("_", "."): text for name, text in named.items()})


def _sasl(mechanism: str, jaas: str) -> dict[str, str]:
    return {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": mechanism,
        "sasl_jaas_config": jaas,
    }


def test_plain_and_scram() -> None:
    scram = f'{SASL}scram.ScramLoginModule required username="u" password="p \\"x\\"";'
    read = producer(_sasl("SCRAM-SHA-512", scram))
    assert texts(read)["sasl.username"] == "u"
    assert texts(read)["sasl.password"] == 'p "x"'
    assert texts(read)["security.protocol"] == "sasl_ssl"
    assert 'p "x"' in read.secrets
    assert "sasl.jaas.config" not in texts(read)
    assert 'p "x"' not in repr(read) + "".join(note.text for note in read.reading.notes)


def test_plain_takes_the_module_of_scram() -> None:
    """As in Java, where both only keep name and password; SCRAM does not take that of PLAIN."""
    scram = f"{SASL}scram.ScramLoginModule required username=u password=p;"
    read = texts(producer(_sasl("PLAIN", scram)))
    assert [read[f"sasl.{name}"] for name in ("mechanism", "username", "password")] == ["PLAIN", "u", "p"]


@pytest.mark.parametrize(
    ("mechanism", "jaas"),
    [
        ("GSSAPI", "com.sun.security.auth.module.Krb5LoginModule required hush=hush;"),
        ("OAUTHBEARER", f"{SASL}oauthbearer.OAuthBearerLoginModule required hush=hush;"),
        ("AWS_MSK_IAM", "software.amazon.msk.auth.iam.IAMLoginModule required hush=hush;"),
        ("SCRAM-SHA-256", f"{SASL}plain.PlainLoginModule required username=u password=hush;"),
        ("PLAIN", f"{SASL}plain.PlainLoginModule required password=hush;"),
        ("PLAIN", f"{SASL}plain.PlainLoginModule required username=u password=hush"),
        ("PLAIN", ""),
    ],
)
def test_refused_logins_never_show_a_value(mechanism: str, jaas: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        producer(_sasl(mechanism, jaas))
    beginnings = ("sasl.", "logins by AWS IAM", "java.lang.IllegalArgumentException: Could not find")
    assert str(refused.value).startswith(beginnings)
    assert "hush" not in str(refused.value)


OIDC = "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"
TOKEN_URL = "https://login.example/token"


def bearer(options: str, **file: str) -> Translated:
    login = _sasl("OAUTHBEARER", f"{SASL}oauthbearer.OAuthBearerLoginModule required {options};")
    return producer(login, **{f"sasl_{name}": text for name, text in file.items()})


@pytest.mark.parametrize("handler", [OIDC, OIDC.replace("secured.", "")])
def test_tokens_of_a_token_service(handler: str) -> None:
    options = 'clientId=me clientSecret="hu sh" scope=all extension_a="1" extension_b=two'
    read = bearer(options, login_callback_handler_class=handler, oauthbearer_token_endpoint_url=TOKEN_URL)
    said = {name: text for name, text in property_texts(read.connection).items() if name.startswith("sasl.")}
    assert said == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": TOKEN_URL,
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": "hu sh",
        "sasl.oauthbearer.scope": "all",
        "sasl.oauthbearer.extensions": "a=1,b=two",
    }
    assert "hu sh" in read.secrets
    assert read.stores == JavaStores(java_trust=True, token_service=True)
    Producer({**property_texts(read.connection), "log_level": "0"})


def test_credentials_of_the_file_win_over_the_login_s_options() -> None:
    """As in Kafka since 4.1, which has these properties."""
    given = {f"oauthbearer_client_credentials_client_{name}": f"{name} of the file" for name in ("id", "secret")}
    given |= {"login_callback_handler_class": OIDC, "oauthbearer_token_endpoint_url": TOKEN_URL}
    read = bearer("clientId=me clientSecret=hush scope=all", **given, oauthbearer_scope="some")
    named = {name: texts(read)[f"sasl.oauthbearer.{name}"] for name in ("client.id", "client.secret", "scope")}
    assert named == {"client.id": "id of the file", "client.secret": "secret of the file", "scope": "some"}


@pytest.mark.parametrize(
    ("options", "file", "said"),
    [
        (
            'clientId=me clientSecret=hush extension_pools="a,b"',
            {"oauthbearer_token_endpoint_url": TOKEN_URL},
            "a comma in extension_pools is not supported",
        ),
        (
            "clientId=me clientSecret=hush extension_pool_id=x",
            {"oauthbearer_token_endpoint_url": TOKEN_URL},
            "Extension name pool_id is invalid",
        ),
        ("clientId=me clientSecret=hush", {}, "token.endpoint.url must be"),
        ("clientId=me", {"oauthbearer_token_endpoint_url": TOKEN_URL}, "options clientId and clientSecret"),
        (
            "clientId=me clientSecret=hush ssl.keystore.location=x",
            {"oauthbearer_token_endpoint_url": TOKEN_URL},
            "ssl.keystore.location",
        ),
        (
            "clientId=me clientSecret=hush",
            {"oauthbearer_token_endpoint_url": TOKEN_URL, "oauthbearer_jwt_retriever_class": "com.acme.Jwt"},
            "com.acme.Jwt",
        ),
    ],
)
def test_token_services_that_cannot_be_asked(options: str, file: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        bearer(options, login_callback_handler_class=OIDC, **file)
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_secret_of_any_letters_is_sent_as_java_does() -> None:
    file = {"oauthbearer_token_endpoint_url": TOKEN_URL, "oauthbearer_header_urlencode": "true"}
    read = bearer('clientId="m e" clientSecret="h+~*ü"', login_callback_handler_class=OIDC, **file)
    sent = {texts(read)[f"sasl.oauthbearer.client.{name}"] for name in ("id", "secret")}
    assert sent == {"m+e", "h%2B%7E*%C3%BC"}
    assert {"h+~*ü", "h%2B%7E*%C3%BC"} <= {*read.secrets}


def test_unsecured_tokens() -> None:
    read = bearer('unsecuredLoginStringClaim_sub="me" unsecuredLoginLifetimeSeconds="60" unsecuredLoginExtension_a="1"')
    assert texts(read)["sasl.oauthbearer.config"] == "principal=me lifeSeconds=60 extension_a=1"
    assert texts(read)["enable.sasl.oauthbearer.unsecure.jwt"] == "true"
    with pytest.raises(ConfigurationError, match="unsecuredLoginStringClaim_name"):
        bearer("unsecuredLoginPrincipalClaimName=name")
    with pytest.raises(ConfigurationError, match="blanks"):
        bearer('unsecuredLoginStringClaim_sub="me and you"')


def test_delegation_tokens() -> None:
    login = f"{SASL}scram.ScramLoginModule required username=id password=hush tokenauth=true;"
    read = producer(_sasl("SCRAM-SHA-256", login))
    assert read.connection.sasl.delegation_token
    assert beyond_librdkafka(read.connection) == "a delegation token"
    assert "hush" in read.secrets
    assert beyond_librdkafka(producer(_sasl("SCRAM-SHA-256", login.replace("true;", "false;"))).connection) is None


@pytest.mark.parametrize(
    ("name", "password", "beyond"),
    [("me", " x", True), ("me", "\tx", True), (" me", "x", True), ("me", "", True), ("me ", "x ", False)],
)
def test_secrets_that_librdkafka_would_trim(name: str, password: str, beyond: bool) -> None:
    """Java takes what stands between the quotes; our own sockets do, too."""
    login = f'{SASL}plain.PlainLoginModule required username="{name}" password="{password}";'
    read = texts(producer(_sasl("PLAIN", login)))
    assert (read["sasl.username"], read["sasl.password"]) == (name, password)
    assert (beyond_librdkafka(read_connection(read)) is not None) == beyond


KERBEROS = "com.sun.security.auth.module.Krb5LoginModule required"


@pytest.mark.parametrize(
    ("options", "more", "wanted"),
    [
        (
            'useKeyTab=true keyTab="/etc/mm.keytab" principal="mm@R" serviceName=kafka',
            {},
            KerberosSettings("kafka", "mm@R", "/etc/mm.keytab"),
        ),
        (
            'useKeyTab=true keyTab="file:///etc/mm.keytab" useTicketCache=true principal="mm"',
            {"sasl_kerberos_service_name": "broker", "sasl_kerberos_kinit_cmd": "/usr/bin/kinit"},
            KerberosSettings("broker", "mm", "/etc/mm.keytab"),
        ),
        ("useTicketCache=TRUE serviceName=kafka", {}, KerberosSettings("kafka")),
        (
            'useTicketCache=true ticketCache="/tmp/t" renewTGT=true serviceName=kafka',
            {"sasl_kerberos_service_name": "kafka"},
            KerberosSettings("kafka", ticket_cache="/tmp/t"),
        ),
    ],
)
def test_kerberos(options: str, more: dict[str, str], wanted: KerberosSettings) -> None:
    """GSSAPI is what Java does where the file names no mechanism."""
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_jaas_config": f"{KERBEROS} {options};"}
    read = producer(login, **more)
    assert (read.connection.sasl.mechanism, read.connection.sasl.kerberos) == ("GSSAPI", wanted)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("serviceName=kafka", "useKeyTab=true or useTicketCache=true"),
        ("useKeyTab=true serviceName=kafka principal=me", "keyTab and principal"),
        ("useTicketCache=true", "No serviceName defined in either JAAS or Kafka config"),
        ("useTicketCache=true serviceName=other", "Conflicting serviceName values found"),
    ],
)
def test_kerberos_logins_that_cannot_be(options: str, said: str) -> None:
    service = {} if said.startswith("No service") else {"sasl_kerberos_service_name": "kafka"}
    with pytest.raises(ConfigurationError, match=said):
        producer({**_sasl("GSSAPI", f"{KERBEROS} {options};"), **service})


def test_the_realms_that_java_was_told_of() -> None:
    kerberos = {"sasl.mechanism": "GSSAPI"}
    assert with_realms(kerberos, "/r/krb5.conf") == {**kerberos, "kerberos.realms": "/r/krb5.conf"}
    assert with_realms(kerberos, None) == kerberos
    assert with_realms({"sasl.mechanism": "PLAIN"}, "/r/krb5.conf") == {"sasl.mechanism": "PLAIN"}


IAM = "software.amazon.msk.auth.iam.IAMLoginModule required"


@pytest.fixture
def signer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Amazon's package: it answers with what it was asked."""
    package = tmp_path / MSK_SIGNER
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "MSKAuthTokenProvider.py").write_text(
        "def generate_auth_token(region): return f'own:{region}', 2500\n"
        "def generate_auth_token_from_profile(region, name): return f'{name}:{region}', 2500\n"
        "def generate_auth_token_from_role_arn(region, arn, name): return f'{arn}/{name}:{region}', 2500\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("signer")
@pytest.mark.parametrize(
    ("options", "token"),
    [
        ("", "own:eu-west-1"),
        ('awsProfileName="mirror" awsDebugCreds=true', "mirror:eu-west-1"),
        ('awsRoleArn="arn:x" awsRoleSessionName=s', "arn:x/s:eu-west-1"),
        ('awsRoleArn="arn:x"', "arn:x/legacy_mm:eu-west-1"),
    ],
)
def test_logins_by_aws_iam(options: str, token: str) -> None:
    servers = "b-1.mirror.abc.c2.kafka.eu-west-1.amazonaws.com:9098"
    handler = {"sasl_client_callback_handler_class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler"}
    read = producer(_sasl("AWS_MSK_IAM", f"{IAM} {options};"), bootstrap_servers=servers, **handler)
    made = client_properties(read.connection, MemberErrors("c"))
    assert made["sasl.mechanism"] == "OAUTHBEARER"
    assert made["oauth_cb"]("") == (token, 2.5, "", {})
    assert not [name for name in made if "legacy_mm" in name]


@pytest.mark.usefixtures("signer")
def test_aws_iam_needs_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    with pytest.raises(ConfigurationError, match="set AWS_REGION"):
        producer(_sasl("AWS_MSK_IAM", f"{IAM};"))
    monkeypatch.setenv("AWS_REGION", "us-east-2")
    login = producer(_sasl("AWS_MSK_IAM", f"{IAM};")).connection.sasl.oauth.msk_iam
    assert login is not None and login.region == "us-east-2"


@pytest.mark.parametrize("name", ["sasl_login_callback_handler_class", "sasl_client_callback_handler_class"])
def test_java_code_that_logs_in_is_refused_by_name(name: str) -> None:
    plain = _sasl("PLAIN", f"{SASL}plain.PlainLoginModule required username=u password=hush;")
    with pytest.raises(ConfigurationError, match=r"com\.acme\.Login"):
        producer(plain, **{name: "com.acme.Login"})


STRIMZI = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
CONFLUENT = "io.confluent.kafka.clients.plugins.auth.token.TokenUserLoginCallbackHandler"
OF_STRIMZI = 'oauth.token.endpoint.uri="https://idp/token" oauth.client.id="me" oauth.client.secret="hush"'


def with_class(name: str, options: str, class_path: Sequence[str] = (), **system: str) -> Translated:
    file = _sasl("OAUTHBEARER", f"{SASL}oauthbearer.OAuthBearerLoginModule required {options};")
    read = BASE | {key.replace("_", "."): text for key, text in file.items()}
    read["sasl.login.callback.handler.class"] = name
    system = {key.replace("_", "."): text for key, text in system.items()}
    return apply("producer", read, system=system, class_path=class_path)


def of_kafka(options: str) -> Translated:
    given = {"login_callback_handler_class": OIDC, "oauthbearer_token_endpoint_url": TOKEN_URL}
    return bearer(f"clientId=me clientSecret=hushed {options}", **given)


def test_strimzi_s_class_with_a_client_s_secret() -> None:
    more = 'oauth.scope="a" oauth.audience="b" oauth.username.claim="x" oauth.sasl.extension.pool="p"'
    read = with_class(STRIMZI, f"{OF_STRIMZI} {more}")
    named = {name: texts(read)[f"sasl.oauthbearer.{name}"] for name in ("client.id", "client.secret", "scope")}
    assert named == {"client.id": "me", "client.secret": "hush", "scope": "a"}
    assert texts(read)["sasl.oauthbearer.token.endpoint.url"] == "https://idp/token"
    oauth = read.connection.sasl.oauth
    assert (oauth.audience, oauth.extensions, oauth.fetched_here) == ("b", "pool=p", True)
    assert "hush" in read.secrets
    assert read.stores.token_service


def test_strimzi_s_class_reads_system_properties_and_variables_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OAUTH_CLIENT_SECRET", "of the variable")
    read = with_class(STRIMZI, OF_STRIMZI, oauth_client_id="of the system")
    assert texts(read)["sasl.oauthbearer.client.id"] == "of the system"
    assert texts(read)["sasl.oauthbearer.client.secret"] == "of the variable"
    assert "of the variable" in read.secrets


def test_an_extension_of_a_name_that_java_refuses() -> None:
    with pytest.raises(ConfigurationError, match=r"^sasl\.jaas\.config: Extension name pool\.id is invalid$"):
        with_class(STRIMZI, f'{OF_STRIMZI} oauth.sasl.extension.pool.id="a"')


def test_strimzi_s_class_with_a_token_in_a_file(tmp_path: Path) -> None:
    """It counts before all others, as with Strimzi."""
    (tmp_path / "token").touch()
    read = with_class(STRIMZI, f'oauth.access.token.location="{tmp_path}/token" oauth.refresh.token=x {OF_STRIMZI}')
    oauth = read.connection.sasl.oauth
    assert (oauth.token_file, oauth.client_id, oauth.fetched_here) == (f"{tmp_path}/token", None, True)


def test_what_strimzi_s_class_alone_can_do_is_left_to_it(tmp_path: Path) -> None:
    """Where its jar is on the class path, it runs in the driver's JVM as any other class does."""
    jar = tmp_path / "strimzi.jar"
    with ZipFile(jar, "w") as made:
        made.writestr(f"{STRIMZI.replace('.', '/')}.class", b"")
    read = with_class(STRIMZI, f"{OF_STRIMZI} oauth.refresh.token=x", class_path=(str(jar),))
    asked = json.loads((read.connection.sasl.oauth.login_class or Secret("")).reveal())
    assert (asked["class"], asked["options"]["oauth.refresh.token"]) == (STRIMZI, "x")


def test_strimzi_s_class_with_a_token_and_with_its_own_trust() -> None:
    read = with_class(STRIMZI, 'oauth.access.token="hush"')
    assert read.connection.sasl.oauth.token == Secret("hush")
    assert "hush" in read.secrets
    trusted = f'{OF_STRIMZI} oauth.ssl.truststore.location="/ca.pem" oauth.ssl.truststore.type="PEM"'
    read = with_class(STRIMZI, trusted)
    assert texts(read)["https.ca.location"] == "/ca.pem"
    assert not read.stores.token_service


@pytest.mark.parametrize("kind", ["PKCS12", "JKS", ""])
@pytest.mark.parametrize("prefix", ["oauth.", ""])
def test_a_token_service_shows_what_a_store_of_java_s_has(prefix: str, kind: str) -> None:
    """With Strimzi's class, and with Kafka's."""
    trust = f"{prefix}ssl.truststore"
    options = f'{trust}.location="/trust" {trust}.password="hush"' + (f' {trust}.type="{kind}"' if kind else "")
    read = with_class(STRIMZI, f"{OF_STRIMZI} {options}") if prefix else of_kafka(options)
    assert read.stores.token_trusted == KeyStore("/trust", kind or "JKS", "hush")
    assert read.stores.token_trusted.place == f"sasl.jaas.config: {trust}.location"
    assert read.stores.token_service
    assert "hush" in read.secrets
    assert not [path for path in read.values if "store" in path], "a password is no field"


def test_kafka_s_class_with_pem_for_its_token_service() -> None:
    read = of_kafka('ssl.truststore.type="PEM" ssl.truststore.location="/ca.pem"')
    assert texts(read)["https.ca.location"] == "/ca.pem"
    with pytest.raises(ConfigurationError, match="the option ssl.keystore.location is not supported"):
        of_kafka('ssl.keystore.location="/k"')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (f'{OF_STRIMZI} oauth.refresh.token="a"', "the option oauth.refresh.token is not supported; with Strimzi's"),
        (f'{OF_STRIMZI} oauth.client.assertion="a"', "the option oauth.client.assertion is not supported; with"),
        ('oauth.access.token.location="/none"', "oauth.access.token.location names no file: /none"),
        ('oauth.client.id="a"', "oauth.token.endpoint.uri must be the http or https address"),
        ('oauth.token.endpoint.uri="http://a"', "oauth.client.id and oauth.client.secret must be there"),
    ],
)
def test_strimzi_s_class_says_what_it_lacks(options: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as refused:
        with_class(STRIMZI, options)
    assert STRIMZI in str(refused.value)
    assert "hush" not in str(refused.value)


def test_confluent_s_class() -> None:
    read = with_class(CONFLUENT, 'username="me" password="hush" metadataServerUrls="http://a,http://b"')
    assert read.connection.sasl.oauth.metadata_service_urls == "http://a,http://b"
    assert texts(read)["sasl.username"] == "me"
    assert "hush" in read.secrets
    with pytest.raises(ConfigurationError, match="metadataServerUrls"):
        with_class(CONFLUENT, 'username="me" password="hush"')


def test_an_unknown_class_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigurationError, match="CustomAuthenticateCallbackHandler is not supported") as refused:
        with_class("CustomAuthenticateCallbackHandler", "")
    assert refused.value.property_name == "sasl.login.callback.handler.class"

"""What looks like a secret is hidden, and what does not is shown."""

from __future__ import annotations

import json

import pytest

from legacy_mm.base.redaction import Veil, is_secret_property, java_secret, known_secrets, looks_secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ssl.keystore.password=hush hush", "ssl.keystore.password=[hidden]"),
        ("--spark.conf=spark.authenticate.secret=a=b", "--spark.conf=spark.authenticate.secret=[hidden]"),
        ("http://me:hush@host:1/x", "http://[hidden]@host:1/x"),
        ("org.x.Y required TOKEN: abc", "org.x.Y required TOKEN:[hidden]"),
        ("the known one is known1!", "the known one is [hidden]"),
        ("xknown1!y", "x[hidden]y"),
        ("a, and a", "[hidden], and [hidden]"),
        ("/etc/kafka/consumer.properties", "/etc/kafka/consumer.properties"),
        ("orders.*|audit", "orders.*|audit"),
        ("/etc/kafka/ca.pem:/opt/handlers/rename.jar", "/etc/kafka/ca.pem:/opt/handlers/rename.jar"),
        ("localhost:9092,b:1", "localhost:9092,b:1"),
    ],
)
def test_one_text(text: str, shown: str) -> None:
    assert Veil(["known1!", "a", " "]).over(text) == shown


def test_words_are_hidden_one_by_one() -> None:
    options = "-Djava.security.auth.login.config=/x -Djavax.net.ssl.trustStorePassword=hush -Xmx1G"
    assert Veil([]).over_words(options) == (
        "-Djava.security.auth.login.config=/x -Djavax.net.ssl.trustStorePassword=[hidden] -Xmx1G"
    )


def test_a_secret_with_a_blank_is_hidden_among_words() -> None:
    assert Veil(["two words"]).over_words("a two words b") == "a [hidden] b"
    assert Veil([]).over_words('required password="two words";') == "required password=[hidden]"


def test_of_a_secret_that_begins_with_another_nothing_is_shown() -> None:
    assert Veil(["secret1", "secret1-and-more"]).over("x secret1-and-more y secret1") == "x [hidden] y [hidden]"


def test_a_secret_is_hidden_as_json_writes_it() -> None:
    secret = 'hu"sh\\é'
    assert Veil([secret]).over(json.dumps(["x", secret])) == '["x", "[hidden]"]'


def test_the_word_behind_a_name_that_looks_secret_is_hidden() -> None:
    line = ["--admin.sasl.password", "hush", "--admin.ssl.key=x", "--my.api.key", "hush", "--include", "key", "t"]
    shown = ["--admin.sasl.password", "[hidden]", "--admin.ssl.key=[hidden]", "--my.api.key", "[hidden]"]
    shown += ["--include", "key", "t"]
    assert list(Veil([]).over_line(line)) == shown


@pytest.mark.parametrize("name", ["my.Password", "api.key", "x.token", "JAAS", "client-secret"])
def test_names_that_look_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["zookeeper.connect", "topics", "producer.type"])
def test_names_that_do_not(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "ssl.key.password",
        "ssl.keystore.key",
        "ssl_passwd",
        "sasl.jaas.config",
        "basic.auth.user.info",
        "ssl.key.pem",
        "sasl.oauthbearer.config",
        "sasl.oauthbearer.client.credentials.client.secret",
    ],
)
def test_properties_whose_value_no_line_may_show(name: str) -> None:
    assert is_secret_property(name)


@pytest.mark.parametrize(
    "name", ["sasl.oauthbearer.token.endpoint.url", "key.serializer", "ssl.keystore.location", "security.protocol"]
)
def test_properties_that_may_be_shown(name: str) -> None:
    assert not is_secret_property(name)


def test_the_secrets_of_a_login_are_known_one_by_one() -> None:
    """A line of a library quotes the password, not the whole configuration."""
    login = 'org.x.Scram required username="u" password=\'hush\' tokenauth="true" clientSecret="shh";'
    assert known_secrets({"sasl.jaas.config": login, "group.id": "g"}) == (login, "hush", "shh")


@pytest.mark.parametrize(
    ("option", "secret"),
    [
        ("-Djavax.net.ssl.keyStorePassword=hush", "hush"),
        ("-Dmy.passwd=a b", "a b"),
        ("-Dcom.sun.management.jmxremote.password.file=/etc/jmx", None),
        ("-Dcom.sun.management.jmxremote.password.toHashes=true", None),
        ("-Xmx1G", None),
    ],
)
def test_options_of_java(option: str, secret: str | None) -> None:
    assert java_secret(option) == secret


def test_a_text_of_any_length_is_looked_through() -> None:
    """One word of 300,000 letters took minutes: each letter was tried as the beginning of a name."""
    long = "x" * 300_000
    assert Veil(()).over(long) == long
    assert Veil(()).over(f"{long}.password=hush") == f"{long}.password=[hidden]"

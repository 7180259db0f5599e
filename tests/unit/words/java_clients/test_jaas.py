"""The grammar of `sasl.jaas.config`, as Kafka's JaasConfig has it (config-map 2.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.jaas import parse, with_login

READ = {
    'M required username="u" password="p";': {"username": "u", "password": "p"},
    "M REQUIRED username='u' password='p' ;": {"username": "u", "password": "p"},
    "M required\n  username=alice\n  password=s-e.c_r$t;": {
        "username": "alice",
        "password": "s-e.c_r$t",
    },
    'a.b.M optional p="a\\"b\\\\c";': {"p": 'a"b\\c'},
    'M required p="\\101\\n\\u0041";': {"p": "A\nu0041"},
    "M required /* c */ p=a // d\n;": {"p": "a"},
    "M required;": {},
    'M required p="";': {"p": ""},
    'M required p="a;b=c";': {"p": "a;b=c"},
    'M required p="12345";': {"p": "12345"},
    'M required p="a" p="b";': {"p": "b"},
    "M required p=ä;": {"p": "ä"},
}
REFUSED = [
    "",
    "M",
    "M required",
    "M required p=a",
    "M maybe p=a;",
    "M required p;",
    "M required p=;",
    "M required p=12345;",
    "M required p=/etc/x;",
    "M required p=a, q=b;",
    'M required p="a\nb";',
    "M required p=a; N required q=b;",
    ";",
    "12 required;",
]


@pytest.mark.parametrize("text", READ)
def test_read(text: str) -> None:
    assert parse(text).options == READ[text]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^sasl\.jaas\.config cannot be read: "):
        parse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (r"M required u=\"a\" p=\"b\";", "write the quotes without backslashes before them"),
        (r"M required u=\'a\';", "write the quotes without backslashes before them"),
        ('M required u="a", p="b";', "write a blank"),
        ("M required u=&quot;a&quot;;", "write the quotes themselves"),
        ("M required u=5;", "needs quotes"),
        ('M required u="a" p="b\r\n";', "holds a line break, .*: write the value without it"),
        ('M required p="b\n" u="a";', "holds a line break, .*: write the value without it"),
        ('M required u="a" p="b', "a line break in the value ends the line"),
    ],
)
def test_what_to_write_instead(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{told}$"):
        parse(text)


def test_nothing_is_shown() -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse("M required password=9hush9;")
    assert "hush" not in str(refused.value)
    assert "hush" not in repr(parse("M required password=hush;"))


SASL = {"security.protocol": " sasl_ssl ", "sasl.mechanism": "PLAIN"}
LOGINS = r"""
// written for Java
KafkaServer { org.Other required password="no"; };
KafkaClient {
    org.apache.kafka.common.security.plain.PlainLoginModule required
    username=alice /* the mirror */
    password="a\"b\\c; }'é";
};
"""


@pytest.mark.parametrize("written", ["{}", "={}", "file:{}", "file://{}"])
def test_a_login_file_is_read_where_the_properties_name_no_login(tmp_path: Path, written: str) -> None:
    file = tmp_path / "jaas.conf"
    file.write_text(LOGINS)
    found = with_login(SASL, written.format(file), {})
    login = parse(found.pop("sasl.jaas.config"))
    assert found == SASL
    assert login.name == "org.apache.kafka.common.security.plain.PlainLoginModule"
    assert login.options == {"username": "alice", "password": "a\"b\\c; }'é"}


@pytest.mark.parametrize("properties", [{}, {"security.protocol": "SSL"}, {**SASL, "sasl.jaas.config": "M required;"}])
def test_a_login_file_nobody_needs_is_not_opened(properties: dict[str, str]) -> None:
    assert with_login(properties, "/nowhere/jaas.conf", {}) == properties


def test_no_file_leaves_the_properties_alone() -> None:
    assert with_login(SASL, None, {}) == SASL


@pytest.mark.parametrize("text", ["", "KafkaServer { M required; };", "KafkaClient { M required;", "KafkaClient"])
def test_a_file_without_the_entry(tmp_path: Path, text: str) -> None:
    file = tmp_path / "jaas.conf"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=r"Could not find a 'KafkaClient' entry .*login\.config' is /"):
        with_login(SASL, str(file), {})


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ConfigurationError, match=r"IOException: /nowhere/jaas\.conf \(No such file or directory\)"):
        with_login(SASL, "/nowhere/jaas.conf", {})


def value_in_a_file(folder: Path, value: str) -> str:
    file = folder / "jaas.conf"
    file.write_text(f"KafkaClient {{ M required password={value}; }};")
    found = with_login(SASL, str(file), {"foo": 'b\\a"r', "empty": ""})
    return parse(found["sasl.jaas.config"]).options["password"]


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ('"a${foo}b${/}c"', 'ab\\a"rb/c'),
        ('"${empty}x"', "x"),
        ('"${{foo}}x${foo}"', '${{foo}}xb\\a"r'),
        ('"${{foo}}"', "${{foo}}"),
        ('"${{foo${foo}"', "${{foo${foo}"),
        ('"x${foo"', "x${foo"),
        ('"foo"', "foo"),
        ('""', ""),
    ],
)
def test_values_of_a_file_are_expanded_as_java_does(tmp_path: Path, value: str, expanded: str) -> None:
    """As Java 17 gave them."""
    assert value_in_a_file(tmp_path, value) == expanded


@pytest.mark.parametrize(
    ("value", "why"),
    [("ab${hush}", "unable to expand a property in"), ("${empty}", "the option password is expanded to an empty")],
)
def test_what_cannot_be_expanded_is_an_error_that_shows_nothing_of_it(tmp_path: Path, value: str, why: str) -> None:
    with pytest.raises(
        ConfigurationError, match=rf"^java.lang.SecurityException: java.io.IOException: .*{why}"
    ) as refused:
        value_in_a_file(tmp_path, f'"{value}"')
    assert value not in str(refused.value)
    assert "hush" not in str(refused.value)


def test_the_property_s_own_values_are_not_expanded() -> None:
    assert parse('M required password="${foo}";').options == {"password": "${foo}"}


def test_a_login_file_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    file = tmp_path / "jaas.conf"
    file.write_bytes(b'KafkaClient { M required p="\xc3\xa9\xe9"; };')
    assert parse(with_login(SASL, str(file), {})["sasl.jaas.config"]).options == {"p": "\u00e9\ufffd"}


def test_a_protocol_that_a_provider_knows_wants_the_login_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROTOCOL", "SASL_SSL")
    file = tmp_path / "jaas.conf"
    file.write_text("KafkaClient { M required; };")
    provider = {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    found = with_login({**provider, "security.protocol": "${env:PROTOCOL}"}, str(file), {})
    assert found["sasl.jaas.config"] == '"M" "required" ;'

"""The grammar of `sasl.jaas.config`, as Kafka's JaasConfig has it (config-map 2.2)."""

from __future__ import annotations

import pytest

from legacy_mm.compat.jaas import parse
from legacy_mm.errors import ConfigurationError

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


def test_nothing_is_shown() -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse("M required password=9hush9;")
    assert "hush" not in str(refused.value)
    assert "hush" not in repr(parse("M required password=hush;"))

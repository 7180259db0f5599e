r"""`sasl.jaas.config` as Kafka's `JaasConfig` reads it: `<module> <flag> (<option>=<value>)* ;`.

The words are those of `java.io.StreamTokenizer`: quotes of both kinds with `\n` and octal
escapes that may not span lines, three ways of comments, and numbers, which are no values unless
quoted. Errors never hold a word of the text, because it holds a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from legacy_mm.errors import ConfigurationError

_FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_TOKEN = re.compile(
    r"""
      (?P<skip> [\x00-\x20]+ | /\*.*?(?:\*/|\Z) | /[^\r\n]* )
    | (?P<quoted> "(?:\\.|[^"\\\r\n])*(?:"|(?=[\r\n])|\\?\Z)
                | '(?:\\.|[^'\\\r\n])*(?:'|(?=[\r\n])|\\?\Z) )
    | (?P<number> -?(?:[0-9]+\.?[0-9]*|\.[0-9]+) )
    | (?P<word> [A-Za-z_$\xa0-\U0010ffff][A-Za-z0-9_$.\xa0-\U0010ffff-]* )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

Kind = Literal["text", "number", "sign"]


class Token(NamedTuple):
    """A word or quoted text, a number, or a single character."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class LoginModule:
    """The one entry of the text."""

    name: str
    options: dict[str, str] = field(repr=False)


def parse(text: str) -> LoginModule:
    """The login module; raises ConfigurationError where Kafka would, without a word of the text."""
    tokens = list(_tokens(text))
    if not tokens:
        raise _error("it names no login module")
    module, rest = tokens[0], tokens[1:]
    if module.kind != "text":
        raise _error("it does not begin with the name of a login module")
    if not rest or rest[0].kind != "text" or rest[0].text.upper() not in _FLAGS:
        raise _error("a control flag such as required must follow the login module")
    options: dict[str, str] = {}
    position = 1
    while True:
        if position >= len(rest):
            raise _error("it does not end with a semicolon")
        if rest[position] == Token("sign", ";"):
            break
        key, equals, value = (*rest[position : position + 3], *[Token("sign", "")] * 3)[:3]
        if key.kind != "text" or equals != Token("sign", "=") or value.kind != "text":
            raise _error(
                "every option is written name=value, and a value that begins with a digit or a "
                "slash needs quotes"
            )
        options[key.text] = value.text
        position += 3
    if position + 1 < len(rest):
        raise _error("it holds more than one login module")
    return LoginModule(module.text, options)


def _error(why: str) -> ConfigurationError:
    return ConfigurationError(f"sasl.jaas.config cannot be read: {why}")


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "quoted":
            yield Token("text", _unquoted(match.group()))
        elif match.lastgroup == "word":
            yield Token("text", match.group())
        elif match.lastgroup == "number":
            yield Token("number", match.group())
        elif match.lastgroup == "sign":
            yield Token("sign", match.group())


def _unquoted(quoted: str) -> str:
    body = quoted[1:-1] if len(quoted) > 1 and quoted[-1] == quoted[0] else quoted[1:]
    return _ESCAPE.sub(_unescaped, body)


def _unescaped(escape: re.Match[str]) -> str:
    what = escape[1]
    return chr(int(what, 8)) if what[0] in "01234567" else _LETTERS.get(what, what)

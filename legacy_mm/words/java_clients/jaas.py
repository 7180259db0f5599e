r"""Logins: `sasl.jaas.config`, or the entry `KafkaClient` of the file that `-Djava.security.auth.login.config` names.

The property is read as Kafka's `JaasConfig` reads it: `<module> <flag> (<option>=<value>)* ;`. A file holds entries
`<name> { <module> ... };`. The words are those of `java.io.StreamTokenizer`: quotes of both kinds with `\n` and octal
escapes that may not span lines, three ways of comments, and numbers, which are no values unless quoted. Of a file's
values, Java expands `${...}`. Errors never hold a word of the text, because it holds a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import config_providers

LOGIN_FILE = "java.security.auth.login.config"
"""The system property that names a login file."""
ENTRY = "KafkaClient"
"""Name of a client's entry in such a file."""
LOGIN = "sasl.jaas.config"
_NOT_READ = "java.lang.SecurityException: java.io.IOException: "
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
_REFERENCE = re.compile(r"\$\{(?:(?P<kept>\{.*?\}\}|\{.*)|(?P<name>[^}]*)\})", re.DOTALL)
"""References to system properties; one that begins with two braces stays as it is."""
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_FAULTS = {
    "\\": "a backslash stands outside of quotes: write the quotes without backslashes before them",
    ",": "a comma stands between options: write a blank",
    "&": "a value holds &, as where a web page's &quot; was copied: write the quotes themselves",
}
"""A sign that Java does not read there -> what to do."""
_LINE_BREAK = (
    "a value in quotes holds a line break, as a Secret or a file has that was written with one at its end: write the "
    "value without it"
)
_OPEN = "the quotes of a value are not closed where the line ends: a line break in the value ends the line"
_FAULT = "every option is written name=value, and a value that begins with a digit or a slash needs quotes"

TokenKind = Literal["text", "number", "sign"]


class Token(NamedTuple):
    """A word or quoted text, a number, or a single character."""

    kind: TokenKind
    text: str


@dataclass(frozen=True, slots=True)
class LoginModule:
    """The one entry of the text."""

    name: str
    options: dict[str, str] = field(repr=False)


def parse(text: str) -> LoginModule:
    """Parse the login module; raises ConfigurationError where Kafka would, without a word of the text."""
    try:
        return _parse(text)
    except ConfigurationError as error:
        is_told = str(error).endswith(tuple(_FAULTS.values()))
        if not is_told and (why := _open_quotes(text)):
            raise _error(why) from None
        raise


def _open_quotes(text: str) -> str:
    """Return what is wrong with quotes that are not closed; empty if all are."""
    for match in _TOKEN.finditer(text):
        quoted = match.group()
        if match.lastgroup == "quoted" and (len(quoted) == 1 or quoted[-1] != quoted[0]):
            return _LINE_BREAK if match.end() < len(text) else _OPEN
    return ""


def _parse(text: str) -> LoginModule:
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
            raise _error(_fault(key, equals, value))
        options[key.text] = value.text
        position += 3
    if position + 1 < len(rest):
        raise _error("it holds more than one login module")
    return LoginModule(module.text, options)


def with_login(properties: Mapping[str, str], path: str | None, system: Mapping[str, str]) -> dict[str, str]:
    """Return a client's properties, with the login file's entry if they want SASL and name no login themselves.

    `system` are Java's system properties.
    """
    if path is None or not _wants_login(config_providers.resolve(properties).properties):
        return dict(properties)
    # Java also takes an address, and a second equals sign for: this file alone
    file = Path(re.sub(r"^file:(?://(?=/))?", "", path.removeprefix("=")))
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigurationError(f"{_NOT_READ}{file} ({error.strerror})") from None
    return {**properties, LOGIN: _entry(text, path, system)}


def no_entry(path: str | None) -> str:
    """Return Kafka's message for a login that neither the property nor the file holds."""
    return (
        f"java.lang.IllegalArgumentException: Could not find a '{ENTRY}' entry in the JAAS configuration. "
        f"System property '{LOGIN_FILE}' is {path or 'not set'}"
    )


def _wants_login(properties: Mapping[str, str]) -> bool:
    protocol = properties.get("security.protocol", "").strip().upper()
    return protocol.startswith("SASL_") and not properties.get(LOGIN)


def _entry(text: str, path: str, system: Mapping[str, str]) -> str:
    """Return the entry's content in the form of a `sasl.jaas.config`."""
    tokens = list(_tokens(text))
    opening, closing = Token("sign", "{"), Token("sign", "}")
    for position, token in enumerate(tokens[:-1]):
        if token == Token("text", ENTRY) and tokens[position + 1] == opening:
            content = tokens[position + 2 :]
            if closing in content:
                return " ".join(map(_written, _expanded(content[: content.index(closing)], system)))
    raise ConfigurationError(no_entry(path))


def _expanded(tokens: Sequence[Token], system: Mapping[str, str]) -> Iterator[Token]:
    """Expand the system properties that values refer to."""
    names = (Token("text", ""), Token("text", ""), *tokens)  # a value's name is two tokens before it
    for name, equals, token in zip(names, names[1:], tokens, strict=False):
        is_value = token.kind == "text" and equals == Token("sign", "=")
        yield Token("text", _expand(token.text, name.text, system)) if is_value else token


def _expand(value: str, option: str, system: Mapping[str, str]) -> str:
    def look_up(reference: re.Match[str]) -> str:
        if reference["kept"] is not None:
            return reference.group()
        if reference["name"] == "/":
            return "/"
        if reference["name"] not in system:
            raise ConfigurationError(f"{_NOT_READ}unable to expand a property in the option {option}")
        return system[reference["name"]]

    expanded = _REFERENCE.sub(look_up, value)
    if value and not expanded:
        raise ConfigurationError(f"{_NOT_READ}the option {option} is expanded to an empty value")
    return expanded


def _written(token: Token) -> str:
    if token.kind != "text":
        return token.text
    return '"' + re.sub(r'["\\\r\n]', lambda found: f"\\{ord(found[0]):03o}", token.text) + '"'


def _fault(*option: Token) -> str:
    """Return what is wrong with an option of these tokens."""
    return next((_FAULTS[token.text] for token in option if token.kind == "sign" and token.text in _FAULTS), _FAULT)


def _error(why: str) -> ConfigurationError:
    return ConfigurationError(f"{LOGIN} cannot be read: {why}")


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

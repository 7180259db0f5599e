"""Access to the port: names of the host, logins, other sites, actions. It knows no connector.

The rules, in their order: (1) the path is plain text; (2) `Host` is a name that is served; (3) probes need no login,
all else a client certificate and the token, where they are set; (4) no other site changes anything; (5) what changes
something is off unless it was switched on. Each action is one line of the log.
Source: contract `status-page.md`, section 4.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import ipaddress
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import RestSettings, is_loopback
from legacy_mm.connect.rest.error_mapper import error_response
from legacy_mm.logs import events
from legacy_mm.metrics.health import PROBES

CERTIFICATE = "client_certificate"
"""Key in the state of a request: the name in the caller's certificate; missing without one."""
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a browser sends our own forms with `Origin: null`
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_READS = ("GET", "HEAD", "OPTIONS")
_LOGIN = {"WWW-Authenticate": 'Basic realm="legacy_mm", charset="UTF-8", Bearer realm="legacy_mm"'}
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.25, 4.0
_MOST_PAUSES = 64
"""Answers that are held back at a time: more would keep others out."""
_MOST_ADDRESSES = 1_000
_LONGEST_TEXT = 200
"""Characters of a caller's name or path in the log."""


class TokenFile:
    """The token of `--admin.token.file`; it is read again when the file changes, and only its digest is kept."""

    def __init__(self, path: str) -> None:
        """Read the file; raise ConfigurationError if there is no token in it."""
        self._path = Path(path)
        self._seen = self._looks()
        self._digest = self._read()
        if self._path.stat().st_mode & 0o077:
            events.emit(events.REST_TOKEN_OPEN, file=path)

    def accepts(self, given: bytes) -> bool:
        """Return True for the token, in a time that says nothing about it."""
        try:
            if (seen := self._looks()) != self._seen:
                self._digest, self._seen = self._read(), seen
        except ConfigurationError:
            pass  # while it is being replaced, the former one holds
        return hmac.compare_digest(hashlib.sha256(given).digest(), self._digest)

    def _looks(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError as error:
            raise ConfigurationError(f"--admin.token.file {self._path}: {error.strerror}") from None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> bytes:
        try:
            token = self._path.read_bytes().strip()
        except OSError as error:
            raise ConfigurationError(f"--admin.token.file {self._path}: {error.strerror}") from None
        if not token:
            raise ConfigurationError(f"--admin.token.file {self._path} is empty: write a long random word into it")
        return hashlib.sha256(token).digest()


class FailedTries:
    """Logins that failed, by the address of the caller, and how long the answer waits."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()

    def add(self, address: str) -> int:
        """Count one more; return how many there were without a success between them."""
        count = self._counts.pop(address, 0) + 1
        self._counts[address] = count
        if len(self._counts) > _MOST_ADDRESSES:
            self._counts.popitem(last=False)
        return count

    def forget(self, address: str) -> None:
        """Begin anew after a success."""
        self._counts.pop(address, None)


def pause_after(tries: int) -> float:
    """Return the seconds for which the answer to a failed login waits."""
    return min(_LONGEST_PAUSE, _SHORTEST_PAUSE * (1 << min(tries - 1, 10)))


@dataclass(frozen=True, slots=True)
class _Caller:
    name: str
    address: str


class Access:
    """An ASGI application that lets another one answer what its rules allow."""

    def __init__(
        self, application: ASGIApp, settings: RestSettings, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    ) -> None:
        """Read the token; raise ConfigurationError if that fails."""
        self._application = application
        self._sleep = sleep
        self._token = None if settings.token_file is None else TokenFile(settings.token_file)
        self._wants_certificate = settings.client_ca is not None
        self._actions = settings.actions
        self._on_loopback = is_loopback(settings.address)
        self._names = {"localhost", settings.address.lower()}
        if not self._on_loopback:
            self._names.add(socket.gethostname().lower())
        self._failed = FailedTries()
        self._pauses = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["path"] = scope["path"].rstrip("/") or "/"  # the same resource; no tool follows a redirect
        caller = _caller(scope)
        outcome: list[int] = []

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                outcome.append(message["status"])
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        stranger = self._stranger(scope) or await self._without_login(scope, caller)
        refusal = stranger or self._forbidden(scope)
        await (refusal or self._application)(scope, receive, send_guarded)
        if is_action(scope) and stranger is None:
            events.emit(
                events.REST_ACTION,
                request=f"{scope['method']} {_printable(scope['raw_path'].decode('latin-1'))}",
                who=caller.name,
                address=caller.address,
                outcome=outcome[0] if outcome else "the caller left",
            )

    def _stranger(self, scope: Scope) -> Response | None:
        """Refuse what no program sends by itself: rules 1 and 2."""
        raw = scope["raw_path"].lower()
        if b"%2f" in raw or not scope["path"].isprintable():
            said = "The path has an encoded slash or a control character: no name with one can be addressed"
            return error_response(HTTPStatus.BAD_REQUEST, said)
        host = Headers(scope=scope).get("host")
        if host is None or self._serves(host) or (self._token is not None and not self._on_loopback):
            return None  # with a token it is the login that keeps a foreign page out
        said = f"{_printable(host)} is no name of this server; it has: {', '.join(sorted(self._names))}"
        return error_response(HTTPStatus.MISDIRECTED_REQUEST, said)

    def _serves(self, host: str) -> bool:
        name = (host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]).lower().rstrip(".")
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._on_loopback

    async def _without_login(self, scope: Scope, caller: _Caller) -> Response | None:
        if scope["path"] in PROBES:
            return None
        if self._wants_certificate and CERTIFICATE not in scope["state"]:
            said = "This port wants a client certificate of an authority in --admin.tls.client.ca"
            return error_response(HTTPStatus.FORBIDDEN, said)
        if self._token is None:
            return None
        given = _credentials(scope)
        if given is not None and self._token.accepts(given[1]):
            self._failed.forget(caller.address)
            return None
        if given is not None:
            await self._hold_back(caller)
        said = "User cannot access the resource: the token is missing or wrong"
        return error_response(HTTPStatus.UNAUTHORIZED, said, _LOGIN)

    async def _hold_back(self, caller: _Caller) -> None:
        tries = self._failed.add(caller.address)
        if not tries & (tries - 1):  # not a line for each
            events.emit(events.REST_LOGIN_FAILED, who=caller.name, address=caller.address, tries=tries)
        if self._pauses < _MOST_PAUSES:
            self._pauses += 1
            try:
                await self._sleep(pause_after(tries))
            finally:
                self._pauses -= 1

    def _forbidden(self, scope: Scope) -> Response | None:
        """Refuse what changes something: rules 4 and 5."""
        if scope["method"] in _READS:
            return None
        headers = Headers(scope=scope)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") or not _is_ours(headers):
            return error_response(HTTPStatus.FORBIDDEN, "A page of another site may change nothing here")
        if is_action(scope) and not self._actions:
            said = "Actions are switched off here: --admin.actions=true with --admin.token.file switches them on"
            return error_response(HTTPStatus.FORBIDDEN, said)
        return None


def is_action(scope: Scope) -> bool:
    """Return True for a request that may change something."""
    path = scope["path"]
    validates = path.startswith("/connector-plugins/") and path.endswith("/config/validate")
    return scope["method"] not in _READS and not (validates and scope["method"] == "PUT")


def _is_ours(headers: Headers) -> bool:
    origin = headers.get("origin")
    return origin is None or origin.lower().partition("://")[2] == headers.get("host", "").lower() != ""


def _caller(scope: Scope) -> _Caller:
    given = _credentials(scope)
    name = (given[0] if given else "") or scope["state"].get(CERTIFICATE, "") or "somebody without a name"
    client = scope.get("client")
    return _Caller(_printable(name), client[0] if client else "")


def _credentials(scope: Scope) -> tuple[str, bytes] | None:
    """Return the name and the token of `Authorization`, which is Bearer or Basic; None without either."""
    scheme, _, text = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return "", text.strip().encode("latin-1")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, token = base64.b64decode(text.strip(), validate=True).partition(b":")
    except binascii.Error:
        return "", b""
    return name.decode("utf-8", "replace"), token


def _printable(text: str) -> str:
    shown = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text[:_LONGEST_TEXT])
    return shown if len(text) <= _LONGEST_TEXT else f"{shown}..."

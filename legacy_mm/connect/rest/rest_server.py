"""The server at `--admin.port`: HTTP/1.1 on one thread, with limits that no caller can get around.

It handles no signal and ends no process. A connection waits for its caller for a bounded time, also for one that sends
a byte now and then; where there are too many connections, the one that has waited longest makes room for a new one.
Source: contract `status-page.md`, section 5.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import threading
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.settings import RestSettings, is_loopback
from legacy_mm.connect.rest.access import CERTIFICATE, SECURITY_HEADERS
from legacy_mm.logs import events

MOST_CONNECTIONS = 256
"""More than these make room for each other."""
MOST_BUSY_CONNECTIONS = 1_024
"""More than these, which all wait for their answers, are refused."""
REQUEST_DEADLINE = 10.0
"""Seconds for a request to come in, and for the handshake before it."""
ANSWER_DEADLINE = 30.0
"""Seconds for a caller to take an answer."""
_MOST_HEADERS = 65_536
_STOP_TIMEOUT = 2
_BACKLOG = 128


class RestServer:
    """An HTTP server on a thread of its own."""

    def __init__(self, settings: RestSettings, application: ASGIApp) -> None:
        """Listen; raise HostError if the address cannot be used, ConfigurationError for a certificate that cannot."""
        assert settings.port is not None
        certificate = None if settings.certificate is None else _Certificate(settings)
        self._socket = _listen(settings.address, settings.port)
        login = settings.token_file or settings.client_ca
        lacks = [name for name, given in (("TLS", settings.certificate), ("a login", login)) if given is None]
        if lacks and not is_loopback(settings.address):
            events.emit(events.REST_OPEN, address=settings.address, lacks=" and ".join(lacks))
        self.port: int = self._socket.getsockname()[1]
        self._server = uvicorn.Server(_config(application, certificate))
        self._thread = threading.Thread(target=self._run, name="admin", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening, and give running requests a moment for their answers."""
        self._server.should_exit = True
        self._thread.join(2 * _STOP_TIMEOUT)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_Loop) as runner:
                runner.run(self._server.serve(sockets=[self._socket]))
        except Exception as error:  # noqa: BLE001 - copying goes on without it
            events.emit(events.REST_FAILED, request="the server itself", reason=type(error).__name__, error=error)
        finally:
            self._socket.close()


def _config(application: ASGIApp, certificate: _Certificate | None) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        interface="asgi3",
        http=_BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.CRITICAL,  # what a caller does wrong is no news
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,
        timeout_graceful_shutdown=_STOP_TIMEOUT,
        h11_max_incomplete_event_size=_MOST_HEADERS,
        ssl_context_factory=None if certificate is None else lambda *_: certificate.context,
        callback_notify=None if certificate is None else certificate.look_again,
        timeout_notify=1,
    )


def _listen(address: str, port: int) -> socket.socket:
    with ExitStack() as undo:
        try:
            found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            listening = undo.enter_context(socket.socket(found[0][0]))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(found[0][4])
            listening.listen(_BACKLOG)
        except OSError as error:
            said = f"--admin.port: cannot listen on {address}:{port}: {error.strerror}"
            raise HostError(said) from error
        undo.pop_all()
        return listening


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose servers bound a TLS handshake, which uvicorn leaves at a minute."""

    async def create_server(self, *of: Any, **given: Any) -> asyncio.Server:
        """Return a server that listens."""
        if given.get("ssl") is not None:
            given["ssl_handshake_timeout"] = REQUEST_DEADLINE
        server: asyncio.Server = await super().create_server(*of, **given)
        return server


class _Certificate:
    """The certificate and key of the server, which may be exchanged while it runs."""

    def __init__(self, settings: RestSettings) -> None:
        assert settings.certificate is not None
        self._files = settings.certificate, settings.key or settings.certificate
        self._client_ca = settings.client_ca
        self._seen = self._looks()
        try:
            self.context = self._load()
        except ConfigurationError:
            raise
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"--admin.tls.certificate {' and '.join(self._files)}: {error}") from None

    async def look_again(self) -> None:
        """Use the files if they have changed, and are fit."""
        if (seen := self._looks()) == self._seen:
            return
        self._seen = seen
        try:
            self._load()
            self.context.load_cert_chain(*self._files, password=_no_password)
        except (OSError, ValueError, ConfigurationError) as error:
            events.emit(events.REST_CERTIFICATE_UNFIT, reason=str(error))

    def _looks(self) -> list[tuple[int, int] | None]:
        found = [Path(each) for each in self._files]
        return [(each.stat().st_mtime_ns, each.stat().st_size) if each.exists() else None for each in found]

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self._files, password=_no_password)
        if self._client_ca is not None:
            context.verify_mode = ssl.CERT_OPTIONAL  # a probe needs none: `access.py` asks for it
            try:
                context.load_verify_locations(self._client_ca)
            except (OSError, ValueError) as error:
                raise ConfigurationError(f"--admin.tls.client.ca {self._client_ca}: {error}") from None
        return context


def _no_password() -> str:
    raise ValueError("the key has a password; write it without one, readable by this user alone")


class _BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for each request, and with room for new callers."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._began = self.loop.time()
        if (name := _common_name(transport)) is not None:
            self.app_state = {**self.app_state, CERTIFICATE: name}
        self._make_room()
        self._expect_within(REQUEST_DEADLINE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._expect_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read; the deadline of a request is that of its first byte."""
        super().data_received(data)
        if not self._waits():
            self._expect_nothing()
        elif self._deadline is None:
            self._expect_within(REQUEST_DEADLINE)

    def pause_writing(self) -> None:
        """Wait for the caller to read."""
        super().pause_writing()
        self._expect_nothing()
        self._expect_within(ANSWER_DEADLINE)

    def resume_writing(self) -> None:
        """Wait no more."""
        super().resume_writing()
        self._expect_nothing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP as any other error, and hang up."""
        body = json.dumps({"error_code": HTTPStatus.BAD_REQUEST.value, "message": msg}).encode()
        headers = {"Content-Type": "application/json", **SECURITY_HEADERS, "Connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        status = f"HTTP/1.1 {HTTPStatus.BAD_REQUEST.value} {HTTPStatus.BAD_REQUEST.phrase}\r\n"
        self.transport.write(f"{status}{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.transport.close()

    def _waits(self) -> bool:
        """Return True if it is the caller's turn: a request is not all there."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _make_room(self) -> None:
        if len(self.connections) <= MOST_CONNECTIONS:
            return
        waiting = [each for each in self.connections if isinstance(each, _BoundedProtocol) and each._waits()]
        oldest = min(waiting, key=lambda each: each._began)
        if oldest is self and len(self.connections) <= MOST_BUSY_CONNECTIONS:
            return
        self.connections.discard(oldest)
        oldest.transport.abort()

    def _expect_within(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _common_name(transport: asyncio.Transport) -> str | None:
    """Return the name in the caller's certificate, an empty one if it has none; None without a certificate."""
    certificate = transport.get_extra_info("peercert")
    if not certificate:
        return None
    names = (value for part in certificate.get("subject", ()) for key, value in part if key == "commonName")
    return next(names, "")

"""Calls to the admin port of a mirror that runs: Kafka Connect's REST API over HTTP, with its errors in plain words."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from legacy_mm.base.errors import ConfigurationError, HostError, LegacyMMError, UsageError
from legacy_mm.cli.command import CommandParser
from legacy_mm.connect.entities import ReportedState
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS, kind_of

URL = "http://127.0.0.1:8083"
TOKEN_FILE = "--token.file"
_TIMEOUT = 30.0
"""Seconds for one call: a change of a flow is answered when it is done."""
_NAMED = tuple(f".{each}" for each in CONNECTORS.values())
"""The endings of names that begin with those of their flows."""
_MISSING = "MISSING"
"""The state of a connector of which the worker has no status yet."""


class RefusedCall(LegacyMMError):
    """The admin port answers with an error."""

    def __init__(self, message: str, status: int) -> None:
        """Take what is said, and the code of the answer."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class ConnectorState:
    """A connector as the port tells of it."""

    name: str
    flow: str
    """`A->B`, by its name or else by the aliases of its configuration."""
    is_source: bool
    state: str
    tasks: tuple[str, ...]
    """The states of its tasks."""
    reason: str
    """The first line of why it failed, or one of its tasks did; empty if none failed."""

    @property
    def running(self) -> int:
        """The number of its tasks that run."""
        return self.tasks.count(ReportedState.RUNNING.value)

    @property
    def all_runs(self) -> bool:
        """True if it and each of its tasks run."""
        return self.state == ReportedState.RUNNING.value and self.running == len(self.tasks)


class AdminPort:
    """The port of one mirror; each call is a connection of its own."""

    def __init__(self, url: str = URL, token_file: str | None = None, authorities: str | None = None) -> None:
        """Take the address; raise UsageError or ConfigurationError for what cannot be used."""
        self._url = url.rstrip("/")
        parts = urlsplit(self._url)
        try:
            self._host, self._port = parts.hostname, parts.port
        except ValueError:
            self._host = None
        if parts.scheme not in ("http", "https") or not self._host:
            raise UsageError(f"--url {url} is no address of an admin port: write one such as {URL}")
        self._path = parts.path
        self._token_file = token_file
        self._headers = {"Accept": "application/json"}
        if token_file is not None:
            self._headers["Authorization"] = f"Bearer {_token(token_file)}"
        self._tls = _tls(authorities) if parts.scheme == "https" else None

    def connectors(self) -> list[ConnectorState]:
        """Return all connectors; raises LegacyMMError."""
        found = self.ask("GET", "/connectors?expand=status&expand=info")
        return [_connector(name, each.get("status", {}), each.get("info", {})) for name, each in found.items()]

    def connector_path(self, name: str, action: str = "") -> str:
        """Return the path of a connector, or of something that can be done with it."""
        return f"/connectors/{quote(name, safe='')}{action}"

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return the JSON of an answer, None for an empty one; raises LegacyMMError."""
        text = self.text(method, path, body)
        try:
            return json.loads(text) if text else None
        except ValueError as error:
            raise HostError(f"{self._url} does not answer as an admin port does: {error}") from None

    def text(self, method: str, path: str, body: object = None) -> str:
        """Return the text of an answer; raises RefusedCall for an error, and HostError without an answer."""
        headers = dict(self._headers)
        sent = None
        if body is not None:
            sent, headers["Content-Type"] = json.dumps(body), "application/json"
        connection = self._connection()
        try:
            connection.request(method, f"{self._path}{path}", sent, headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", "") or error.reason or str(error)
            raise HostError(
                f"{self._url}: no TLS with what listens there ({why}); --ca FILE names the authority of its certificate"
            ) from None
        except ConnectionRefusedError:
            raise HostError(
                f"nothing listens at {self._url}: start the mirror with --admin.port, or name another address by --url"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            why = " ".join(str(error).split())  # http.client quotes what came, with its line's end
            raise HostError(
                f"{self._url} does not answer: {why}; look at --url, also whether it begins with https"
            ) from None
        finally:
            connection.close()
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise RefusedCall(self._refusal(answer.status, text), answer.status)
        return text

    def _connection(self) -> http.client.HTTPConnection:
        assert self._host is not None
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=_TIMEOUT)
        return http.client.HTTPSConnection(self._host, self._port, timeout=_TIMEOUT, context=self._tls)

    def _refusal(self, status: int, text: str) -> str:
        if status == HTTPStatus.UNAUTHORIZED and self._token_file is None:
            return f"{self._url} wants a token: {TOKEN_FILE} FILE names the file of the mirror's --admin.token.file"
        if status == HTTPStatus.UNAUTHORIZED:
            return f"{self._url} refuses the token in {self._token_file}: name the mirror's --admin.token.file"
        try:
            said = json.loads(text)["message"]
        except (ValueError, TypeError, KeyError):
            return f"{self._url} answers {status}, and not as an admin port does: look at --url"
        return f"{self._url}: {said}"


def add_port_options(parser: CommandParser) -> None:
    """Add the options that say which port is meant, and who asks."""
    parser.add_argument("--url", default=URL, help=f"the address of the admin port; default: {URL}")
    parser.add_argument(TOKEN_FILE, dest="token_file", metavar="FILE", help="the file with the port's token")
    parser.add_argument(
        "--ca", metavar="FILE", help="certificates (PEM) of authorities to trust, for https; default: those of the host"
    )


def _token(path: str) -> str:
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{TOKEN_FILE} {path}: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from None
    if not token or not token.isascii() or not token.isprintable():
        raise ConfigurationError(f"{TOKEN_FILE} {path}: there is no token in it, one line of plain letters")
    return token


def _tls(authorities: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:  # ssl.SSLError is one
        why = "it has no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigurationError(f"--ca {authorities}: {why}") from None


def _connector(name: str, status: Mapping[str, Any], info: Mapping[str, Any]) -> ConnectorState:
    config = info.get("config", {})
    own, tasks = status.get("connector", {}), status.get("tasks", [])
    traces = (each["trace"] for each in (own, *tasks) if each.get("trace", "").strip())
    of_name = name.rpartition(".")[0] if name.endswith(_NAMED) else ""
    source, target = (config.get(f"{side}.cluster.alias", "") for side in ("source", "target"))
    return ConnectorState(
        name,
        flow=of_name if "->" in of_name else f"{source}->{target}",
        is_source=kind_of(config.get("connector.class", "")) == "source",
        state=own.get("state", _MISSING),
        tasks=tuple(each["state"] for each in tasks),
        reason=next((trace.strip().splitlines()[0] for trace in traces), ""),
    )

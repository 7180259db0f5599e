"""The REST API as one ASGI application: routes to the resources, and one form of errors around all of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from legacy_mm.base.settings import RestSettings
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.page.status_board import StatusBoard
from legacy_mm.connect.plugins import ConnectorPlugins
from legacy_mm.connect.rest.access import Access
from legacy_mm.connect.rest.connector_plugins_resource import ConnectorPluginsResource
from legacy_mm.connect.rest.connectors_resource import ConnectorsResource
from legacy_mm.connect.rest.error_mapper import error_response, mapped
from legacy_mm.connect.rest.logging_resource import Loggers, LoggingResource
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.page_resource import PageResource
from legacy_mm.connect.rest.reload_resource import ReloadResource
from legacy_mm.connect.rest.rest_request import read_request
from legacy_mm.connect.rest.root_resource import RootResource
from legacy_mm.metrics import health

if TYPE_CHECKING:
    from legacy_mm.metrics.prometheus import GetState, Scrape

MOST_REQUESTS = 256
"""Requests that wait for their answers at a time; probes do not count."""


def rest_application(
    settings: RestSettings,
    herder: Herder,
    plugins: ConnectorPlugins,
    scrape: Scrape,
    state: GetState,
    board: StatusBoard,
) -> ASGIApp:
    """Return what answers at `--admin.port`; raise ConfigurationError if the token cannot be read."""
    resources = (
        RootResource(herder, scrape),
        ConnectorsResource(herder, plugins),
        ConnectorPluginsResource(plugins),
        LoggingResource(Loggers()),
        PageResource(herder, board, f"{settings.address}:{settings.port}"),
        ReloadResource(herder, board.options.read_again),
    )
    operations = {path: methods for each in resources for path, methods in each.operations().items()}
    return Access(_RestApplication(operations, state), settings)


class _RestApplication:
    """Finds the operation for a request, and runs it."""

    def __init__(self, operations: Operations, state: GetState) -> None:
        gate = _Gate()
        routes = [Route(path, _Resource(path, methods, gate)) for path, methods in operations.items()]
        routes += [Route(path, _Probe(path, state)) for path in health.PROBES]
        self._router = Router(routes, redirect_slashes=False, default=error_response(HTTPStatus.NOT_FOUND))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._router(scope, receive, send)


class _Gate:
    """Counts the requests that are worked on."""

    def __init__(self) -> None:
        self.running = 0


class _Resource:
    """Answers at one path."""

    def __init__(self, path: str, methods: Mapping[str, Operation], gate: _Gate) -> None:
        self._path = path
        self._methods = methods
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the operation of the method; every error has the one form."""
        request = Request(scope, receive)
        self._gate.running += 1
        try:
            response = await self._answer(request)
        except Exception as error:  # noqa: BLE001 - see above
            response = mapped(error, f"{request.method} {self._path}")
        finally:
            self._gate.running -= 1
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if self._gate.running > MOST_REQUESTS:
            said = f"{MOST_REQUESTS} other requests wait for their answers: try again"
            return error_response(HTTPStatus.SERVICE_UNAVAILABLE, said, {"Retry-After": "1"})
        if request.method == "OPTIONS":
            return PlainTextResponse(allowed := _allowed(self._methods), headers={"Allow": allowed})
        operation = self._methods.get("GET" if request.method == "HEAD" else request.method)
        if operation is None:
            return _not_allowed(self._methods)
        return await operation.run(await read_request(request, operation.takes))


class _Probe:
    """Answers on the loop's own thread: no number of slow requests keeps a probe waiting."""

    def __init__(self, path: str, state: GetState) -> None:
        self._path = path
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 200 or 503, and a line that says why."""
        response = _not_allowed({"GET"})
        if scope["method"] in ("GET", "HEAD"):
            status, text = health.answer(self._path, self._state())
            response = Response(text, status.value, media_type=health.TEXT)
        await response(scope, receive, send)


def _allowed(methods: Collection[str]) -> str:
    return ", ".join(sorted(["OPTIONS", *methods, *(["HEAD"] if "GET" in methods else [])]))


def _not_allowed(methods: Collection[str]) -> Response:
    return error_response(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": _allowed(methods)})

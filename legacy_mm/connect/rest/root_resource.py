"""`/`, `/health` and `/metrics`, and where a browser is sent that asks for `/`."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import Response

from legacy_mm.connect.entities import WorkerStatus
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.page_resource import STATUS_PAGE
from legacy_mm.connect.rest.rest_request import HTML_TYPE, JSON_TYPE, RestRequest, json_response, preference

if TYPE_CHECKING:
    from legacy_mm.metrics.prometheus import Scrape

HEALTH_TIMEOUT = 10.0
"""Seconds that Connect gives `/health`."""
_UNHEALTHY = WorkerStatus(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "unhealthy",
    "Worker was unable to handle this request and may be unable to handle other requests.",
)


class RootResource:
    """The worker itself."""

    def __init__(self, herder: Herder, scrape: Scrape) -> None:
        """Take who knows the worker, and who knows its numbers."""
        self._herder = herder
        self._scrape = scrape

    def operations(self) -> Operations:
        """Return what can be asked of it."""
        return {
            "/": {"GET": Operation(self._server_info, produces=(JSON_TYPE, HTML_TYPE))},
            "/health": {"GET": Operation(self._health, seconds=HEALTH_TIMEOUT, late=lambda: _health_of(_UNHEALTHY))},
            "/metrics": {"GET": Operation(self._metrics, produces=())},
        }

    def _server_info(self, request: RestRequest) -> Response:
        if preference(request.accept, HTML_TYPE) > preference(request.accept, JSON_TYPE):
            return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": STATUS_PAGE})
        return json_response(self._herder.server_info().body())

    def _health(self, _: RestRequest) -> Response:
        return _health_of(self._herder.worker_status())

    def _metrics(self, request: RestRequest) -> Response:
        found = self._scrape(request.accept, request.accept_encoding, request.query_string)
        return Response(found.body, found.status, found.headers)


def _health_of(worker: WorkerStatus) -> Response:
    return json_response(worker.body(), worker.code)

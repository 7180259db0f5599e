"""`/connector-plugins`: which classes there are, what they take, and whether a configuration is valid."""

from __future__ import annotations

from starlette.responses import Response

from legacy_mm.connect.plugins import ConnectorPlugins
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.rest_request import RestRequest, json_response


class ConnectorPluginsResource:
    """The plug-ins, each by its name or alias."""

    def __init__(self, plugins: ConnectorPlugins) -> None:
        """Take who knows them."""
        self._plugins = plugins

    def operations(self) -> Operations:
        """Return what can be asked of them."""
        return {
            "/connector-plugins": {"GET": Operation(self._list)},
            "/connector-plugins/{plugin}/config": {"GET": Operation(self._definitions)},
            "/connector-plugins/{plugin}/config/validate": {"PUT": Operation(self._validate)},
        }

    def _list(self, request: RestRequest) -> Response:
        connectors_only = "connectorsOnly" not in request.query or request.flag("connectorsOnly")
        found = self._plugins.plugins()
        return json_response([each.body() for each in found if each.is_connector or not connectors_only])

    def _definitions(self, request: RestRequest) -> Response:
        return json_response(list(self._plugins.definitions(request.path["plugin"])))

    def _validate(self, request: RestRequest) -> Response:
        """Answer 200 also for a configuration with errors: tools read them in the body."""
        body, _ = self._plugins.validate(request.path["plugin"], request.config())
        return json_response(body)

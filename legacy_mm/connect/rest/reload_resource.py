"""`/legacy-mm/reload`, which is ours and not Connect's: the files of the start are read again."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import Response

from legacy_mm.connect.herder import Herder
from legacy_mm.connect.reload_plan import DRY_RUN, RELOAD
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.rest_request import RestRequest, json_response


class ReloadResource:
    """The reload."""

    def __init__(self, herder: Herder, reloaded: Callable[[], None]) -> None:
        """Take who reads the files; `reloaded` is called when something may have changed."""
        self._herder = herder
        self._reloaded = reloaded

    def operations(self) -> Operations:
        """Return what can be asked of it."""
        return {RELOAD: {"POST": Operation(self._reload)}}

    def _reload(self, request: RestRequest) -> Response:
        dry_run = request.flag(DRY_RUN)
        plan = self._herder.reload(dry_run=dry_run)
        if not dry_run:
            self._reloaded()
        return json_response(plan.body(dry_run=dry_run))

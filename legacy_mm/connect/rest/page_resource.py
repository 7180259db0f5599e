"""`/status`: the pages for people, with what they are made of, and the forms by which they act.

A form asks the same of the `Herder` as Connect's API does. Source: contract `status-page.md`, sections 2 to 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.page.group_board import GroupBoard
from legacy_mm.connect.page.status_board import ProcessView, StatusBoard
from legacy_mm.connect.page.status_page import ASSETS, FormKey, RowsWanted, StatusPage, asset, encoded
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.rest_request import FORM_TYPE, HTML_TYPE, RestRequest

STATUS_PAGE = "/status"
_SHORTEST_REFRESH, _LONGEST_REFRESH = 2, 3_600
_STATES = {"pause": TargetState.PAUSED, "resume": TargetState.STARTED, "stop": TargetState.STOPPED}
_Page = Callable[[RestRequest, ProcessView], str]


class PageResource:
    """The pages."""

    def __init__(self, herder: Herder, board: StatusBoard, worker: str) -> None:
        """Take who runs the connectors, who knows the flows, and the name of the process."""
        self._herder = herder
        self._board = board
        self._groups = GroupBoard(herder.flow_group)
        self._form_key = FormKey()
        self._page = StatusPage(worker, self._form_key)

    def operations(self) -> Operations:
        """Return what can be asked of them."""
        pages: Mapping[str, _Page] = {
            STATUS_PAGE: lambda request, view: self._page.overview(view, _refresh(request)),
            f"{STATUS_PAGE}/flow": self._flow,
            f"{STATUS_PAGE}/group": self._group,
            f"{STATUS_PAGE}/partitions": lambda request, view: self._page.partitions(
                view, RowsWanted.of(request.query)
            ),
            f"{STATUS_PAGE}/events": lambda _, view: self._page.events(view),
        }
        return {
            **{path: {"GET": Operation(self._shows(page), produces=(HTML_TYPE,))} for path, page in pages.items()},
            **{f"{STATUS_PAGE}/{name}": {"GET": Operation(partial(_asset, name), produces=())} for name in ASSETS},
            f"{STATUS_PAGE}/connectors/{{connector}}/{{action}}": {
                "POST": Operation(self._act, produces=(HTML_TYPE,), takes=FORM_TYPE)
            },
        }

    def _shows(self, page: _Page) -> Callable[[RestRequest], Response]:
        def show(request: RestRequest) -> Response:
            try:
                text = page(request, self._board.view())
            except ConnectRestError as error:
                return self._notice(error)
            seconds = _refresh(request)
            return Response(text, media_type=HTML_TYPE, headers={"Refresh": str(seconds)} if seconds else None)

        return show

    def _flow(self, request: RestRequest, view: ProcessView) -> str:
        name = request.query.get("name", [""])[0]
        return self._page.flow(view, name, self._board.flow_options(name))

    def _group(self, request: RestRequest, view: ProcessView) -> str:
        name = request.query.get("name", [""])[0]
        return self._page.group(view, name, self._groups.view(view.flow(name).name))

    def _act(self, request: RestRequest) -> Response:
        name, action = request.path["connector"], request.path["action"]
        try:
            if not self._form_key.accepts(request.form().get("token", ""), name, action):
                said = "The form is not of this process, or of an earlier start of it: load the page anew"
                raise ConnectRestError(HTTPStatus.FORBIDDEN, said)
            flow = self._herder.connector_info(name).flow
            self._order(name, action)
        except ConnectRestError as error:
            return self._notice(error)
        address = f"{STATUS_PAGE}/flow?name={encoded(flow)}"
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": address})

    def _order(self, name: str, action: str) -> None:
        """Give an order; only a form of ours comes here, so there is no other action."""
        if action in _STATES:
            self._herder.set_target_state(name, _STATES[action])
        else:
            self._herder.restart_connector_and_tasks(name, include_tasks=True, only_failed=False)

    def _notice(self, error: ConnectRestError) -> Response:
        title = f"{error.status.value} {error.status.phrase}"
        text = self._page.notice(self._board.view(), title, error.message)
        return Response(text, error.status.value, media_type=HTML_TYPE)


def _refresh(request: RestRequest) -> int:
    """Return the seconds after which a caller wants the page again; 0: never."""
    said = request.query.get("refresh", [""])[0]
    if not (said.isascii() and said.isdigit() and len(said) < 6 and int(said)):
        return 0
    return min(_LONGEST_REFRESH, max(_SHORTEST_REFRESH, int(said)))


def _asset(name: str, _: RestRequest) -> Response:
    return Response(asset(name), media_type=ASSETS[name])

"""An operation, one method of one path, and its run: in a thread, within a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.connect.rest.error_mapper import error_response
from legacy_mm.connect.rest.rest_request import JSON_TYPE, RestRequest, preference

REQUEST_TIMEOUT = 90.0
"""Seconds that Connect gives a request."""


def _timed_out() -> Response:
    return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, "Request timed out")


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    answer: Callable[[RestRequest], Response]
    """May wait; it has a thread for itself."""
    produces: Sequence[str] = (JSON_TYPE,)
    """The types of its answer; none: it looks at `Accept` itself."""
    takes: str = JSON_TYPE
    """The type of its body."""
    seconds: float = REQUEST_TIMEOUT
    late: Callable[[], Response] = _timed_out
    """Makes the answer when the time is over; what was begun goes on."""

    async def run(self, request: RestRequest) -> Response:
        """Return the answer, or what is said when the time is over; raise 406 for a caller that wants no such type."""
        if self.produces and not any(preference(request.accept, each)[0] > 0 for each in self.produces):
            raise ConnectRestError(HTTPStatus.NOT_ACCEPTABLE, "HTTP 406 Not Acceptable")
        begun = asyncio.ensure_future(run_in_threadpool(self.answer, request))
        done, _ = await asyncio.wait({begun}, timeout=self.seconds)
        if not done:
            begun.add_done_callback(_ignore)
            return self.late()
        return begun.result()


def _ignore(late: asyncio.Future[Response]) -> None:
    if not late.cancelled():
        late.exception()  # else asyncio logs that nobody asked for it


Operations = Mapping[str, Mapping[str, Operation]]
"""Path -> method -> what is done. A name in braces stands for one part of a path."""

"""An operation that does not come back in time."""

from __future__ import annotations

import asyncio
import json
import threading

from starlette.responses import Response

from legacy_mm.connect.rest.operation import REQUEST_TIMEOUT, Operation
from legacy_mm.connect.rest.rest_request import RestRequest


def test_an_answer_that_is_late_is_an_error_and_what_was_begun_goes_on() -> None:
    go_on, over = threading.Event(), threading.Event()

    def answer(_: RestRequest) -> Response:
        go_on.wait(30)
        over.set()
        raise ValueError("after the time")

    async def ask() -> Response:
        found = await Operation(answer, seconds=0.01).run(RestRequest({}, {}, b""))
        go_on.set()
        await asyncio.to_thread(over.wait, 30)
        return found

    late = asyncio.run(ask())
    assert over.is_set()
    assert (late.status_code, json.loads(bytes(late.body))["message"]) == (500, "Request timed out")
    assert Operation(answer).seconds == REQUEST_TIMEOUT == 90

"""The one form of errors: every answer of 400 and above is `{"error_code", "message"}`, as tools for Connect expect."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.logs import events


def error_response(status: HTTPStatus, message: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer for an error; without a message Jersey's, such as `HTTP 404 Not Found`."""
    message = message or f"HTTP {status.value} {status.phrase}"
    return JSONResponse({"error_code": status.value, "message": message}, status.value, headers)


def mapped(error: Exception, where: str) -> Response:
    """Return the answer for an exception; the words of one that nobody expects stay in the log: they may be secret."""
    match error:
        case ConnectRestError():
            return error_response(error.status, error.message)
        case ClientDisconnect():  # nobody is there to read it
            return error_response(HTTPStatus.BAD_REQUEST)
    events.emit(events.REST_FAILED, request=where, reason=type(error).__name__, error=error)
    said = f"{type(error).__name__}: the log of the mirror says more"
    return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, said)

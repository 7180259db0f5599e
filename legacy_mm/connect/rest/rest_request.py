"""A request as the resources see it: path, parameters and a body that is JSON, in the types that Connect reads.

Source: contract `connect-rest.md`, sections 0, 1 and 6.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from legacy_mm.connect.entities import ConnectRestError, JsonObject

MOST_BYTES = 1 << 20
"""The largest body."""
JSON_TYPE = "application/json"
HTML_TYPE = "text/html"
FORM_TYPE = "application/x-www-form-urlencoded"
_MOST_PARAMETERS = 100


@dataclass(frozen=True, slots=True)
class RestRequest:
    """A request with its whole body."""

    path: Mapping[str, str]
    """The decoded values of the path, by the names in braces."""
    query: Mapping[str, list[str]]
    body: bytes = field(repr=False)
    base: str = ""
    """The beginning of absolute addresses, such as `http://host:8083`; empty where the caller names no host."""
    query_string: str = ""
    accept: str = ""
    accept_encoding: str = ""

    def flag(self, name: str) -> bool:
        """Return True for a parameter that is `true` in any case."""
        return self.query.get(name, [""])[0].lower() == "true"

    def json_object(self, *fields: str, numbers_are_texts: bool = True) -> JsonObject:
        """Return the body, an object that may have these fields; raise 400 for anything else."""
        found = json_object(self._parsed(numbers_are_texts=numbers_are_texts))
        for unknown in found.keys() - set(fields):
            said = f'Unrecognized field "{unknown}", known are: {", ".join(fields)}'
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
        return found

    def config(self) -> dict[str, str | None]:
        """Return the body as a configuration."""
        return texts(json_object(self._parsed(numbers_are_texts=True)))

    def form(self) -> dict[str, str]:
        """Return the fields of a form; raise 400 for what is none."""
        try:
            fields = parse_qs(self.body.decode(), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, "The body is no form") from None
        return {name: values[0] for name, values in fields.items()}

    def location(self, name: str) -> Mapping[str, str]:
        """Return the header that says where a connector is."""
        return {"Location": f"{self.base}/connectors/{quote(name, safe='')}"}

    def _parsed(self, *, numbers_are_texts: bool) -> Any:
        kept: Callable[[str], str] | None = str if numbers_are_texts else None
        try:
            return json.loads(self.body, parse_int=kept, parse_float=kept, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, f"The body is no JSON: {why}") from None


def json_object(value: Any) -> JsonObject:
    """Return a value that is a JSON object; raise 400 for any other."""
    if not isinstance(value, dict):
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, "Cannot deserialize value: a JSON object is wanted")
    return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def texts(config: JsonObject) -> dict[str, str | None]:
    """Return a configuration in which numbers and booleans are texts, as Jackson reads them; 400 for what is neither.

    Numbers are texts already, just as they were written.
    """
    for key, value in config.items():
        if isinstance(value, dict | list):
            raise ConnectRestError(
                HTTPStatus.BAD_REQUEST, f"Cannot deserialize value of {key}: it is no string, number or boolean"
            )
    return {key: str(value).lower() if isinstance(value, bool) else value for key, value in config.items()}


async def read_request(request: Request, takes: str = JSON_TYPE) -> RestRequest:
    """Read the body, and raise 400, 413 or 415 for what no resource takes."""
    body = await _body(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != takes and (body or (media_type and request.method not in ("GET", "HEAD"))):
        raise ConnectRestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "HTTP 415 Unsupported Media Type")
    query_string = request.scope["query_string"].decode("latin-1")
    try:
        query = parse_qs(query_string, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, f"More than {_MOST_PARAMETERS} parameters") from None
    host = request.headers.get("host", "")
    return RestRequest(
        path=request.path_params,
        query=query,
        body=body,
        base=f"{request.scope['scheme']}://{host}" if host else "",
        query_string=query_string,
        accept=request.headers.get("accept", ""),
        accept_encoding=request.headers.get("accept-encoding", ""),
    )


async def _body(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    found = bytearray()
    if int(length) <= MOST_BYTES:
        async for part in request.stream():
            found += part
            if len(found) > MOST_BYTES:
                break
        else:
            return bytes(found)
    said = f"The body has more than {MOST_BYTES} bytes, the most that this port takes"
    raise ConnectRestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)


def json_response(
    body: object, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer with a body."""
    return JSONResponse(body, status.value, headers)


def empty_response(status: HTTPStatus) -> Response:
    """Return an answer without a body, and without a type."""
    return Response(status_code=status.value)


def preference(accept: str, media_type: str) -> tuple[float, int]:
    """Return how much a caller wants a type: the weight that its `Accept` gives, and how exactly it names the type."""
    ranges = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
    best = (0.0, -1)
    for each in (accept or "*/*").split(","):
        name, *parameters = (part.strip().lower() for part in each.split(";"))
        if name in ranges and ranges.index(name) > best[1]:
            best = (_weight(parameters), ranges.index(name))
    return best


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0

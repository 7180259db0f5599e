"""Errors that no caller can bring about on purpose."""

from __future__ import annotations

import json

import pytest
from starlette.requests import ClientDisconnect

from legacy_mm.connect.rest.error_mapper import mapped


def test_a_caller_that_hangs_up_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    found = mapped(ClientDisconnect(), "POST /connectors")
    assert json.loads(bytes(found.body)) == {"error_code": 400, "message": "HTTP 400 Bad Request"}
    assert caplog.messages == []

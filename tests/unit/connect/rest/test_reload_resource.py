"""`/legacy-mm/reload` as clients meet it, over a socket."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.connect.reload_plan import FlowAction, FlowPlan, ReloadPlan
from tests.fixtures.rest_api import RestApi, serving


@pytest.mark.parametrize(("query", "dry"), [("", False), ("?dry.run=true", True), ("?dry.run=no", False)])
def test_it_answers_with_the_plan(api: RestApi, query: str, dry: bool) -> None:
    api.herder.plan = ReloadPlan([FlowPlan("A->B", FlowAction.ADD)])
    found = api.call("POST", f"/legacy-mm/reload{query}")
    assert (found.status, found.body) == (200, api.herder.plan.body(dry_run=dry))
    assert found.body["dry_run"] is dry
    assert api.herder.calls == [("reload", dry)]


def test_what_is_refused_has_its_code_and_words(api: RestApi) -> None:
    api.herder.failure = ConnectRestError(HTTPStatus.BAD_REQUEST, "tasks.max = 0")
    found = api.call("POST", "/legacy-mm/reload")
    assert (found.status, found.body) == (400, {"error_code": 400, "message": "tasks.max = 0"})
    assert api.call("GET", "/legacy-mm/reload").status == 405


def test_it_is_an_action_and_wants_the_token(api: RestApi) -> None:
    assert api.call("POST", "/legacy-mm/reload", headers={"Authorization": "Bearer x"}).status == 401
    with serving() as reading:
        assert reading.call("POST", "/legacy-mm/reload?dry.run=true").status == 403
        assert reading.herder.calls == []

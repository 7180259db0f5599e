"""The pages over a socket: their headers, who may act by a form, and what an action is to the log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import quote, urlencode

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.option import OptionValue
from legacy_mm.clients.group.group_protocol import DescribedGroup, DescribedMember
from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.rest.access import SECURITY_HEADERS
from tests.fixtures.counted_flows import CountedFlow
from tests.fixtures.rest_api import Answered, RestApi, serving

FLOW, NAME = "east->west", "east->west.MirrorSourceConnector"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
GROUP = f"/status/group?name={quote(FLOW)}"
FORM = {"Content-Type": "application/x-www-form-urlencoded", **BROWSER}
PAGES = ["/status", "/status/", "/status/partitions", "/status/events", f"/status/flow?name={quote(FLOW)}", GROUP]


@pytest.fixture
def shown(api: RestApi) -> Iterator[RestApi]:
    """A port with one flow, which may be told to do something."""
    flow = CountedFlow(FLOW).assigned()
    flow.reports(7)
    api.registries = [flow.registry]
    api.herder.add(NAME)
    api.herder.flows[NAME] = FLOW
    yield api
    api.registries = []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_html_and_has_the_headers_that_guard_it(shown: RestApi, path: str) -> None:
    found = shown.call("GET", path, headers=BROWSER)
    assert (found.status, found.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert {name: found.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    assert "refresh" not in found.headers
    assert shown.call("HEAD", path, headers=BROWSER).status == 200


def test_a_program_that_wants_json_gets_no_page(shown: RestApi) -> None:
    assert shown.call("GET", "/status", headers={"Accept": "application/json"}).status == 406


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("10", "10"), ("1", "2"), ("99999", "3600"), ("0", None), ("-1", None), ("x", None), ("", None)],
)
def test_the_page_comes_again_only_where_it_is_asked_to(shown: RestApi, said: str, seconds: str | None) -> None:
    found = shown.call("GET", f"/status?refresh={said}", headers=BROWSER)
    assert (found.status, found.headers["refresh"]) == (200, seconds)


@pytest.mark.parametrize(("name", "kind"), [("status.css", "text/css"), ("status.js", "text/javascript")])
def test_what_a_page_needs_comes_from_here(shown: RestApi, name: str, kind: str) -> None:
    found = shown.call("GET", f"/status/{name}")
    assert (found.status, found.headers["content-type"]) == (200, f"{kind}; charset=utf-8")
    assert f"/status/{name}" in shown.call("GET", "/status", headers=BROWSER).text


def test_a_flow_that_is_not_there_is_told_to_a_person(shown: RestApi) -> None:
    found = shown.call("GET", "/status/flow?name=%3Cb%3E", headers=BROWSER)
    assert (found.status, found.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no flow &lt;b&gt; here" in found.text


def token(api: RestApi, action: str) -> str:
    """The token of the form that the flow's page has for an action."""
    page = api.call("GET", f"/status/flow?name={quote(FLOW)}", headers=BROWSER).text
    form = page[page.index(f"/{action}") :]
    (found,) = re.findall(r'name="token" value="(\w+)"', form[: form.index("</form>")])
    return str(found)


def act(api: RestApi, action: str, given: str | None = None, **headers: str) -> Answered:
    """Send a form as a browser does."""
    body = urlencode({"token": token(api, action) if given is None else given}).encode()
    more = {name.replace("_", "-"): text for name, text in headers.items()}
    return api.call("POST", f"/status/connectors/{quote(NAME, safe='')}/{action}", body, {**FORM, **more})


def test_a_form_does_what_the_api_does_and_leads_back(shown: RestApi, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    found = act(shown, "pause")
    assert (found.status, found.headers["location"]) == (303, "/status/flow?name=east-%3Ewest")
    assert shown.herder.states[NAME] is TargetState.PAUSED
    asked = f"POST /status/connectors/{quote(NAME, safe='')}/pause"
    said = f"somebody without a name at 127.0.0.1 asked for {asked}: 303"
    wait_until(lambda: said in caplog.messages, 20, "the line, which comes behind the answer")
    assert act(shown, "resume").status == 303
    assert act(shown, "restart").status == 303
    assert shown.herder.calls == [("restart", NAME, True, False)]
    assert act(shown, "stop").status == 303
    assert shown.herder.states[NAME] is TargetState.STOPPED


@pytest.mark.parametrize("given", ["", "0" * 64, "ü"])
def test_a_form_that_is_not_ours_changes_nothing(shown: RestApi, given: str) -> None:
    found = act(shown, "pause", given)
    assert (found.status, shown.herder.states[NAME]) == (403, TargetState.STARTED)
    assert "load the page anew" in found.text


def test_a_token_of_another_action_changes_nothing(shown: RestApi) -> None:
    assert act(shown, "stop", token(shown, "pause")).status == 403
    assert shown.herder.states[NAME] is TargetState.STARTED


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_a_form_of_another_site_changes_nothing(shown: RestApi, headers: dict[str, str]) -> None:
    assert act(shown, "pause", **headers).status == 403
    assert shown.herder.states[NAME] is TargetState.STARTED


def test_a_form_as_a_browser_sends_it_is_taken(shown: RestApi) -> None:
    here = f"127.0.0.1:{shown.port}"
    assert act(shown, "pause", Host=here, Origin=f"http://{here}", Sec_Fetch_Site="same-origin").status == 303


def test_an_action_that_is_none_and_a_connector_that_is_gone_are_told(shown: RestApi) -> None:
    page = shown.call("GET", f"/status/flow?name={quote(FLOW)}", headers=BROWSER)
    assert "/delete" not in page.text
    assert act(shown, "delete", "x").status == 403, "nobody has a token for it"
    given = token(shown, "pause")
    shown.herder.failure = None
    del shown.herder.configs[NAME]
    found = act(shown, "pause", given)
    assert (found.status, found.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_a_body_that_is_no_form_is_refused(shown: RestApi) -> None:
    path = f"/status/connectors/{quote(NAME, safe='')}/pause"
    assert shown.call("POST", path, {"token": "x"}, BROWSER).status == 415
    assert shown.call("POST", path, b"\xff", FORM).status == 400
    many = urlencode([("a", "b")] * 101).encode()
    assert shown.call("POST", path, many, FORM).status == 400
    assert shown.herder.states[NAME] is TargetState.STARTED


def test_where_actions_are_off_a_form_is_refused_as_all_else_is() -> None:
    with serving() as api:
        api.herder.add(NAME)
        api.herder.flows[NAME] = FLOW
        found = api.call("POST", f"/status/connectors/{quote(NAME, safe='')}/pause", b"token=x", FORM)
        assert (found.status, found.body["error_code"]) == (403, 403)
        assert "reading only" in api.call("GET", "/status", headers=BROWSER).text


def test_a_page_wants_the_login_that_all_else_wants(shown: RestApi) -> None:
    before, shown.headers = shown.headers, {}
    try:
        for path in (*PAGES, "/status/status.css", "/status/status.js"):
            found = shown.call("GET", path, headers=BROWSER)
            assert (found.status, "Basic" in found.headers["www-authenticate"]) == (401, True)
    finally:
        shown.headers = before


def test_a_flow_shows_what_is_switched_on_as_it_was_last_read(shown: RestApi) -> None:
    path = f"/status/flow?name={quote(FLOW)}"
    shown.herder.options = {FLOW: [OptionValue("source.admin.sasl.jaas.config", "rosebud", "c.properties:7")]}
    shown.options[:] = [OptionValue("on.gap", "fail", "LEGACY_MM_ON_GAP")]
    assert "on.gap" not in shown.call("GET", path, headers=BROWSER).text
    assert shown.call("POST", "/legacy-mm/reload?dry.run=true").status == 200
    assert "on.gap" not in shown.call("GET", path, headers=BROWSER).text
    assert shown.call("POST", "/legacy-mm/reload").status == 200
    text = shown.call("GET", path, headers=BROWSER).text
    assert [each in text for each in ("on.gap", "LEGACY_MM_ON_GAP", "c.properties:7", "rosebud")] == [True] * 3 + [
        False
    ]


def test_the_whole_group_is_asked_for_on_its_own_page_alone() -> None:
    """A port of its own, which has not asked yet."""
    with serving() as api:
        api.registries = [CountedFlow(FLOW).assigned().registry]
        owned = frozenset(TopicPartition("orders", number) for number in range(12))
        api.herder.group = DescribedGroup("mirror", "Stable", (DescribedMember("mm-7", "10.0.0.7", owned),))
        assert "/status/group?name=east-%3Ewest" in api.call("GET", PAGES[4], headers=BROWSER).text
        assert api.herder.calls == []
        for _ in range(2):
            text = api.call("GET", GROUP, headers=BROWSER).text
            assert all(each in text for each in ("mm-7", "10.0.0.7", "orders 0-11", "1 member of all processes"))
        assert api.herder.calls == [("group", FLOW)]
        assert api.call("GET", "/status/group?name=x", headers=BROWSER).status == 404
        assert api.herder.calls == [("group", FLOW)]


def test_a_group_that_is_not_told_is_a_line() -> None:
    with serving() as api:
        api.registries = [CountedFlow(FLOW).assigned().registry]
        api.herder.failure = ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, "group mirror: no <right>")
        found = api.call("GET", GROUP, headers=BROWSER)
        assert (found.status, "The group is not known: <bdi>group mirror: no &lt;right&gt;" in found.text) == (
            200,
            True,
        )


def test_no_page_shows_a_secret(shown: RestApi) -> None:
    """The herder hides them in configurations, the log in its lines; the token of the port is in no page."""
    for path in PAGES:
        assert "correct-horse" not in shown.call("GET", path, headers=BROWSER).text

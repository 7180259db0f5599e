"""The status page in a real Chromium: with and without scripts, light and dark, wide and narrow, by mouse and keys."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote

import pytest

from compat.laboratory.ports import LOOPBACK
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.option import OptionValue
from legacy_mm.clients.group.group_protocol import DescribedGroup, DescribedMember
from legacy_mm.connect.entities import TargetState
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log_settings import LogSettings
from legacy_mm.metrics.health import Phase, State
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from tests.fixtures.chromium import Tab
from tests.fixtures.counted_flows import CountedFlow
from tests.fixtures.rest_api import TOKEN, RestApi, serving, token_file

FLOW, NAME = "east->west", "east->west.MirrorSourceConnector"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'\u202e"
NAMES = [quote(FLOW), quote(HOSTILE, safe="")]
PATHS = [
    "",
    "/partitions",
    "/events",
    *(f"/{page}?name={name}" for page in ("flow", "group") for name in NAMES),
    "/flow",
]
SIZES = [(1280, 720), (375, 700)]
SECONDS = 20.0
Open = Callable[..., Tab]


class Scene:
    """A port with two flows, of which one has names that somebody has chosen to do harm."""

    def __init__(self, api: RestApi) -> None:
        self.api = api
        self.flow = CountedFlow(FLOW, {"orders": 120}).assigned()
        self.flow.reports(lambda each: each.partition)
        self.flow.copies(1_000)
        hostile = CountedFlow(HOSTILE, {HOSTILE: 2}, client_id=HOSTILE).assigned()
        hostile.reports(5)
        api.registries = [self.flow.registry, hostile.registry]
        for flow, name in ((FLOW, NAME), (HOSTILE, HOSTILE)):
            api.herder.add(name)
            api.herder.flows[name] = flow
            api.herder.options[flow] = [OptionValue(flow, flow, "mm2.properties:7")]
        owned = frozenset({TopicPartition(HOSTILE, 0)})
        api.herder.group = DescribedGroup(HOSTILE, "Stable", (DescribedMember(HOSTILE, "10.0.0.7", owned),))
        metrics = OffsetMetrics(self.flow.registry)
        metrics.checkpoints_begin()
        metrics.groups_seen(2, {HOSTILE: HOSTILE})
        api.state = State(Phase.RUNNING, (), {HOSTILE: "no leader"})

    def address(self, path: str = "") -> str:
        return f"http://{LOOPBACK}:{self.api.port}/status{path}"


@pytest.fixture(scope="module")
def lines() -> Iterator[None]:
    root_logger.configure(LogSettings(), {})
    root_logger.keep_recent()
    yield
    root_logger.configure(LogSettings(), {})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lines: None) -> Iterator[RestApi]:
    token = token_file(tmp_path_factory.mktemp("token"))
    with serving(token_file=str(token), actions=True) as found:
        yield found


@pytest.fixture
def scene(server: RestApi) -> Scene:
    server.herder.begin_anew()
    return Scene(server)


@pytest.fixture
def tab(page: Open) -> Tab:
    """A tab of somebody who knows the token."""
    return page(login=("ann", TOKEN))


def update(tab: Tab) -> None:
    """Let the page look for news now, and not in five seconds."""
    tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing_and_no_policy_is_broken(scene: Scene, tab: Tab, axe: str, path: str, dark: bool) -> None:
    logging.getLogger("legacy_mm").warning("%s", HOSTILE)
    events.emit(events.DUTY_FAILED, duty="topic-acls", reason="no right")
    for width, height in SIZES:
        tab.look(width=width, height=height, dark=dark)
        tab.open(scene.address(path))
        assert tab.faults_of_access(axe) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, "it scrolls to the side"
    assert tab.complaints == ["Failed to load resource: the server responded with a status of 404 (Not Found)"] * (
        len(SIZES) if path == "/flow" else 0
    )
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")


def test_without_scripts_all_of_it_is_there(scene: Scene, tab: Tab) -> None:
    tab.without_scripts()
    tab.open(scene.address())
    assert tab.evaluate("document.getElementById('updates').hidden"), "a button that nothing would hear"
    tab.wait_text("121 of 122 partitions are behind", "main")
    with tab.loading():
        tab.click('a[href="/status/partitions"]')
    tab.wait_text("122 partitions, page 1 of 2", "main")
    with tab.loading():
        tab.click('a[rel="next"]')
    tab.wait_text("122 partitions, page 2 of 2", "main")
    tab.evaluate("document.querySelector('input[name=topic]').value = 'script'")
    with tab.loading():
        tab.click("form button")
    tab.wait_text("2 partitions, page 1 of 1", "main")
    tab.open(scene.address(f"/flow?name={quote(FLOW)}"))
    with tab.loading():
        tab.click(f'button[aria-label="Pause {NAME}"]')
    tab.wait_text("‖ paused", "main")
    assert scene.api.herder.states[NAME] is TargetState.PAUSED


def test_hostile_names_are_text(scene: Scene, tab: Tab) -> None:
    for path in PATHS:
        tab.open(scene.address(path))
        assert tab.evaluate("document.querySelectorAll('main script, main img').length") == 0
    tab.open(scene.address())
    assert "<script>alert(1)</script>\"'\\u202e" in tab.text("table")


def test_the_page_keeps_itself_up_to_date(scene: Scene, tab: Tab) -> None:
    tab.open(scene.address(f"/flow?name={quote(FLOW)}"))
    tab.evaluate("window.sameDocument = true")
    tab.click("summary")
    assert tab.evaluate("document.querySelector('details').open")
    tab.evaluate("document.querySelector('summary').focus()")
    scene.flow.reports(1_000)
    tab.wait_text("(120.0 k records)", "dl", 2 * SECONDS)
    assert tab.evaluate("window.sameDocument && document.querySelector('details').open")
    assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert tab.text("#news") == ""
    scene.api.herder.set_target_state(NAME, TargetState.PAUSED)
    update(tab)
    tab.wait_text("‖ paused", "main")
    assert tab.text("#news") == f"{FLOW} paused"
    assert tab.evaluate("document.title") == f"{FLOW}: paused - legacy_mm"
    assert tab.evaluate("document.querySelector('details').open")
    assert tab.complaints == []


def test_updates_stop_while_somebody_has_paused_them_or_selects_text(scene: Scene, tab: Tab) -> None:
    tab.open(scene.address())
    asked = "performance.getEntriesByType('resource').filter((each) => each.initiatorType === 'fetch').length"
    tab.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    update(tab)
    assert tab.evaluate(asked) == 0
    tab.evaluate("getSelection().removeAllRanges()")
    update(tab)
    wait_until(lambda: tab.evaluate(asked) == 1, SECONDS, "one request")
    tab.click("#updates")
    assert tab.evaluate("document.getElementById('updates').getAttribute('aria-pressed')") == "true"
    before = tab.evaluate(asked)
    update(tab)
    assert tab.evaluate(asked) == before
    # half a minute later by its clock
    tab.evaluate("(() => { const now = Date.now; Date.now = () => now() + 30000; })()")
    tab.wait_text("stale", "#clock")
    tab.click("#updates")
    wait_until(lambda: "stale" not in tab.text("#clock"), SECONDS, "a fresh page")


def test_it_is_used_by_the_keyboard_alone(scene: Scene, tab: Tab) -> None:
    tab.open(scene.address())
    tab.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert tab.evaluate("document.activeElement.getBoundingClientRect().left") >= 0, "it is seen while it has the focus"
    tab.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "content"
    for _ in range(20):
        tab.press("Tab")
        if tab.evaluate("document.activeElement.textContent") == FLOW:
            break
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    with tab.loading():
        tab.press("Enter")
    tab.wait_text("Connectors", "main")
    tab.evaluate(f"document.querySelector('button[aria-label=\"Pause {NAME}\"]').focus()")
    with tab.loading():
        tab.press("Enter")
    tab.wait_text("‖ paused", "main")


@pytest.fixture
def other_site(scene: Scene) -> Iterator[str]:
    """The address of a page of somebody else, with a form that pauses the flow as soon as it is seen."""
    target = f"{scene.address()}/connectors/{quote(NAME, safe='')}/pause"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            form = f"<form method=post action='{target}'><input name=token value=x><button>Win</button></form>"
            self.wfile.write(form.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as found:
        Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{found.server_port}/"
        found.shutdown()


def test_a_form_of_another_site_and_a_frame_in_it_are_refused(scene: Scene, tab: Tab, other_site: str) -> None:
    """With the login that the browser remembers."""
    tab.open(scene.address())
    tab.open(other_site)
    with tab.loading():
        tab.click("button")
    assert "A page of another site may change nothing here" in tab.text()
    assert scene.api.herder.states[NAME] is TargetState.STARTED
    tab.open(other_site)
    tab.evaluate(
        "new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = () => done(true); "
        f"frame.src = '{scene.address()}'; document.body.append(frame); }})"
    )
    wait_until(lambda: any("frame-ancestors" in each for each in tab.complaints), SECONDS, "the policy's refusal")


def test_the_login_is_asked_for_by_the_browser(scene: Scene, page: Open) -> None:
    stranger = page(login=("ann", "wrong"))
    stranger.call("Page.navigate", url=scene.address())
    wait_until(lambda: "token is missing or wrong" in stranger.text(), SECONDS, "a refusal")
    assert "Flows" not in stranger.text()

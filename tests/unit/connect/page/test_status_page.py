"""The text of the pages: all that comes from outside is text, long lists are short, and forms know their process."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from legacy_mm.base.option import OptionValue
from legacy_mm.connect.entities import TargetState
from legacy_mm.connect.page.flow_history import Course, Trend
from legacy_mm.connect.page.group_board import GroupView, MemberRow
from legacy_mm.connect.page.status_board import ProcessView, StatusBoard
from legacy_mm.connect.page.status_page import ASSETS, FormKey, RowsWanted, StatusPage, asset
from legacy_mm.logs import root_logger
from legacy_mm.logs.log_settings import LogSettings
from legacy_mm.metrics.health import Phase, State
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from tests.fakes.herder import SOURCE, FakeHerder
from tests.fixtures.counted_flows import CountedFlow

FLOW = "east->west"
CONNECTOR = f"{FLOW}.MirrorSourceConnector"
HOSTILE = "<script>alert(1)</script>\"'\u202e\x1b{{ 7 * 7 }}"
SHOWN = "<script>alert(1)</script>\"'\\u202e\\u001b{{ 7 * 7 }}"
INLINE = re.compile(r"^on|^style$|^src(?:doc|set)?$|^formaction$")


class Markup(HTMLParser):
    """The elements of a page: each tag with its attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        """The cells of each row of all tables, without their heads."""
        self._is_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "thead":
            self._is_cell = False
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._is_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "thead":
            self.rows.pop()
        elif tag in ("td", "th"):
            self._is_cell = False

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._is_cell:
            self.rows[-1][-1] += data.strip()

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


class Bench:
    """A process whose flows are made by the test."""

    def __init__(self) -> None:
        self.herder = FakeHerder()
        self.flows: list[CountedFlow] = []
        self.state = State(Phase.RUNNING, (), {})
        self.actions = True
        self.key = FormKey()
        self.page = StatusPage("127.0.0.1:8083", self.key)

    def adds(self, name: str = FLOW, topics: dict[str, int] | None = None, client_id: str = "mirror-0") -> CountedFlow:
        connector = f"{name}.MirrorSourceConnector"
        self.herder.add(connector)
        self.herder.flows[connector] = name
        flow = CountedFlow(name, topics, client_id=client_id).assigned()
        self.flows.append(flow)
        return flow

    def view(self) -> ProcessView:
        snapshots = [each.registry.snapshot() for each in self.flows]
        return StatusBoard(self.herder, lambda: snapshots, lambda: self.state, actions=self.actions).view()

    def pages(self, name: str = FLOW) -> list[str]:
        view = self.view()
        return [
            self.page.overview(view, 0),
            self.page.flow(view, name, [OptionValue(name, name, name)]),
            self.page.partitions(view, RowsWanted(flow=name, topic=view.rows[0].topic if view.rows else "")),
            self.page.events(view),
            self.page.notice(view, "404 Not Found", f"There is no flow {name}"),
            self.page.group(view, name, GroupView(0.0, name, "Stable", [MemberRow(name, name, 1, name)], 2)),
            self.page.group(view, name, GroupView(0.0, error=name)),
        ]


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def lines() -> Iterator[logging.Logger]:
    root_logger.configure(LogSettings(), {})
    root_logger.keep_recent()
    yield logging.getLogger("legacy_mm")
    root_logger.configure(LogSettings(), {})


def test_whatever_comes_from_outside_is_text(bench: Bench, lines: logging.Logger) -> None:
    flow = bench.adds(HOSTILE, {HOSTILE: 1}, HOSTILE)
    flow.reports(9)
    bench.herder.configs[f"{HOSTILE}.MirrorSourceConnector"] = {"connector.class": SOURCE, HOSTILE: HOSTILE}
    bench.state = State(Phase.RUNNING, (), {HOSTILE: HOSTILE}, {HOSTILE: HOSTILE})
    lines.warning("%s", HOSTILE)
    for text in bench.pages(HOSTILE):
        page = Markup(text)
        assert len(page.all("script")) == 1, "the one of the page"
        assert page.all("script")[0] == {"src": "/status/status.js", "defer": None}
        assert "alert" not in text.replace("&lt;script&gt;alert(1)", "").replace("%3Cscript%3Ealert%281%29", "")
        assert "49" not in page.text
        assert all(each == "\n" or each.isprintable() for each in text)
    assert SHOWN in Markup(bench.pages(HOSTILE)[0]).text
    assert f"There is no flow {SHOWN}" in Markup(bench.pages(HOSTILE)[4]).text


def test_no_attribute_runs_anything_and_addresses_are_those_of_the_pages(bench: Bench) -> None:
    bench.adds(HOSTILE, {HOSTILE: 250}, HOSTILE).reports(9)
    for text in bench.pages(HOSTILE):
        for tag, attributes in Markup(text).tags:
            assert not [name for name in attributes if INLINE.match(name) and tag != "script"]
            for name in ("href", "action"):
                address = attributes.get(name) or ""
                assert re.fullmatch(r"#content|data:,|(?:/status[\w/?=&%.~-]*)?", address), address


def test_the_address_of_a_form_is_that_of_its_connector(bench: Bench) -> None:
    bench.adds()
    forms = Markup(bench.pages()[1]).all("form")
    assert [unquote(form["action"] or "") for form in forms] == [
        f"/status/connectors/{CONNECTOR}/{action}" for action in ("pause", "stop", "restart")
    ]
    assert {form["method"] for form in forms} == {"post"}
    tokens = [each["value"] for each in Markup(bench.pages()[1]).all("input")]
    assert tokens == [bench.key.token(CONNECTOR, action) for action in ("pause", "stop", "restart")]


def test_where_actions_are_off_there_is_no_form_for_one(bench: Bench) -> None:
    bench.adds()
    bench.actions = False
    for text in bench.pages():
        assert [form for form in Markup(text).all("form") if form["method"] != "get"] == []
        assert "reading only" in text


def test_a_token_is_for_one_process_one_connector_and_one_action() -> None:
    key = FormKey()
    token = key.token("a", "pause")
    assert key.accepts(token, "a", "pause")
    for other in (("b", "pause"), ("a", "stop")):
        assert not key.accepts(token, *other)
    assert not FormKey().accepts(token, "a", "pause")
    for wrong in ("", "x", "\udcff", "ü" * 64):
        assert not key.accepts(wrong, "a", "pause")


def test_ten_thousand_partitions_are_told_in_few_rows(bench: Bench) -> None:
    bench.adds(topics={f"topic-{number}": 10 for number in range(1_000)}).reports(lambda each: each.partition)
    overview, flow, partitions, *_ = (Markup(text) for text in bench.pages())
    assert "9,000 of 10,000 partitions are behind" in overview.text
    assert (len(overview.rows), len(partitions.rows)) == (1 + 10 + 1, 10), "flows, the worst, streams; one topic's"
    assert len([row for row in flow.rows if row[0].startswith("topic-")]) == 100
    assert "900 topics more" in flow.text


def test_partitions_are_filtered_sorted_and_turned_over(bench: Bench) -> None:
    bench.adds("a->b", {"orders": 150, "audit": 3}, "a-0").reports(lambda each: each.partition)
    bench.adds("c->b", {"orders": 2}, "c-0").reports(1_000)
    view = bench.view()

    def shown(**wanted: object) -> list[list[str]]:
        return Markup(bench.page.partitions(view, RowsWanted(**wanted))).rows  # type: ignore[arg-type]

    assert len(shown()) == 100
    assert shown()[0] == ["c->b", "orders", "0", "0", "1,000", "–", "not known yet", "c-0"]
    assert len(shown(page=2)) == len(shown(page=9)) == 55
    assert [row[1:3] for row in shown(topic="audit", order="topic")] == [["audit", str(each)] for each in range(3)]
    assert len(shown(topic="orders", flow="c->b")) == 2
    page = Markup(bench.page.partitions(view, RowsWanted(topic="ord", order="records", page=1)))
    (after,) = [each["href"] for each in page.all("a") if each.get("rel") == "next"]
    assert after == "/status/partitions?flow=&topic=ord&order=records&page=2"
    assert [each for each in page.all("th") if "aria-sort" in each] == [
        {"scope": "col", "class": "number", "aria-sort": "descending"}
    ]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({}, RowsWanted()),
        ({"topic": [" a "], "flow": ["f"], "order": ["topic"], "page": ["3"]}, RowsWanted("f", "a", "topic", 3)),
        ({"order": ["__class__"], "page": ["0"]}, RowsWanted()),
        ({"page": ["-1"]}, RowsWanted()),
        ({"page": ["²"]}, RowsWanted()),
        ({"page": ["9" * 40]}, RowsWanted()),
    ],
)
def test_parameters_that_make_no_sense_are_as_if_not_there(query: dict[str, list[str]], wanted: RowsWanted) -> None:
    assert RowsWanted.of(query) == wanted


def test_attention_is_first_and_absent_when_there_is_none(bench: Bench) -> None:
    bench.adds()
    assert "need" not in Markup(bench.page.overview(bench.view(), 0)).text
    bench.state = State(Phase.RUNNING, (), {"orders": "no leader"})
    text = Markup(bench.page.overview(bench.view(), 0)).text
    assert "1 to look at" in text
    assert text.index("1 thing needs you Topic orders cannot be written") < text.index("Flow State Lag")


def test_a_process_without_flows_says_so(bench: Bench) -> None:
    assert "No flow runs here." in Markup(bench.page.overview(bench.view(), 0)).text
    assert "There has been no line of WARN or worse." in Markup(bench.page.events(bench.view())).text


def test_a_flow_shows_what_it_is_configured_to_and_what_it_has_done(bench: Bench, lines: logging.Logger) -> None:
    bench.adds()
    bench.herder.set_target_state(CONNECTOR, TargetState.PAUSED)
    text = Markup(bench.pages()[1]).text
    assert "paused : it was paused here" in text
    assert f"connector.class {SOURCE}" in text
    assert "records set aside 0 0" in text


def test_a_partition_that_went_back_is_told_with_the_number_of_offsets(bench: Bench) -> None:
    flow = bench.adds(topics={"orders": 1})
    flow.reports(0, 2_000)
    flow.reports(1_500, 500)
    for text in bench.pages()[:3]:
        assert "rewind, by 1,500" in Markup(text).text


def test_how_well_a_flow_could_be_failed_over_is_told_where_something_is_known(bench: Bench) -> None:
    flow = bench.adds()
    assert not any("Failing over" in Markup(text).text for text in bench.pages())
    metrics = OffsetMetrics(flow.registry)
    metrics.groups_seen(30, {f"g{number}": HOSTILE for number in range(25)})
    overview, page, *_ = (Markup(text).text for text in bench.pages())
    assert f"Failing over {FLOW} : offset sync none yet, checkpoints for 5 of 30 groups" in overview
    assert "Last offset sync none yet Groups with all checkpoints 5 of 30" in page
    assert f"g0 {SHOWN}" in page
    assert "5 groups more" in page


def test_the_outlook_tells_of_the_time_before_where_it_was_otherwise(bench: Bench) -> None:
    bench.adds()
    view = bench.view()
    before = Trend(Course.FALLS_BEHIND, 100, 150, span=900)
    view = replace(view, flows=[replace(view.flows[0], trend=Trend(Course.KEEPS_UP, 5, 5), long_trend=before)])
    for text in (bench.page.overview(view, 0), bench.page.flow(view, FLOW)):
        assert "keeps up ; over 15 min it fell behind by 45.0 k records" in Markup(text).text
    assert "Over 15 min 150 records/s arrived, 100 were copied" in Markup(text).text
    assert "were copied" not in Markup(bench.page.flow(bench.view(), FLOW)).text


def test_tables_have_captions_scopes_and_names(bench: Bench) -> None:
    bench.adds().reports(5)
    for text in bench.pages():
        page = Markup(text)
        assert len(page.all("caption")) == len(page.all("table"))
        assert all(each.get("scope") in ("col", "row") for each in page.all("th"))
        assert len(page.all("h1")) == 1


def test_assets_are_small_and_ask_nobody_else() -> None:
    for name in ASSETS:
        text = asset(name).decode()
        assert len(text) < 5_000
        assert "//" not in re.sub(r"^\s*// .*$", "", text, flags=re.MULTILINE), "an address of somebody else"

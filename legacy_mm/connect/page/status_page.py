"""The pages, out of templates: the one door to Jinja2.

All that comes from outside is escaped, controls and marks that turn the direction of writing are spelled out,
and a name in an address is encoded (`encoded`). Source: contract `status-page.md`, sections 2 to 4.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from legacy_mm.base.option import OptionValue
from legacy_mm.connect.page import figures
from legacy_mm.connect.page.flow_numbers import PartitionRow, is_behind, known, topic_rows, worst
from legacy_mm.connect.page.group_board import GroupView
from legacy_mm.connect.page.status_board import ProcessView

HERE = Path(__file__).parent
ASSETS = {"status.css": "text/css", "status.js": "text/javascript"}
PAGE_LENGTH = 100
_FIRST_ROWS = 10
_MOST_TOPICS = 100
_KEY_BYTES = 32
_ORDERS: Mapping[str, Callable[[PartitionRow], Any]] = {
    "seconds": lambda row: (-known(row.seconds), -known(row.records)),
    "records": lambda row: -known(row.records),
    "rate": lambda row: -known(row.rate),
    "topic": lambda row: (row.topic, row.partition),
}
"""Name of an order -> the key by which rows are sorted."""


class RowsWanted(NamedTuple):
    """The part of the partitions that a caller wants to see."""

    flow: str = ""
    topic: str = ""
    """A part of the topic's name."""
    order: str = "seconds"
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, Sequence[str]]) -> RowsWanted:
        """Read the parameters of an address; what makes no sense is as if it were not there."""
        said = {name: values[0] for name, values in query.items() if values}
        order, page = said.get("order", ""), said.get("page", "")
        return cls(
            said.get("flow", ""),
            said.get("topic", "").strip(),
            order if order in _ORDERS else "seconds",
            int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 6 and int(page) else 1,
        )

    def rows(self, rows: Sequence[PartitionRow]) -> list[PartitionRow]:
        """Return the rows that are wanted, in their order, of all pages."""
        found = [row for row in rows if self.topic in row.topic and self.flow in ("", row.flow)]
        return sorted(found, key=_ORDERS[self.order])


class FormKey:
    """The key of this process by which it knows its own forms again."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(_KEY_BYTES)

    def token(self, connector: str, action: str) -> str:
        """Return what the form for an action carries."""
        return hmac.new(self._key, f"{action}\n{connector}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def accepts(self, token: str, connector: str, action: str) -> bool:
        """Return True for the token of a form of ours."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token(connector, action).encode())


class StatusPage:
    """Makes the text of each page."""

    def __init__(self, worker: str, form_key: FormKey) -> None:
        """Take the name of the process, host and port."""
        self._worker = worker
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_visible,
            trim_blocks=True,
            lstrip_blocks=True,
            cache_size=-1,
        )
        self._environment.filters |= {
            "encoded": encoded,
            "number": figures.number,
            "large": figures.large,
            "duration": figures.duration,
            "moment": figures.moment,
            "ago": figures.ago,
        }
        self._environment.globals |= {
            "lag": figures.lag,
            "outlook": figures.outlook,
            "long_outlook": figures.long_outlook,
            "failing_over": figures.failing_over,
            "chart": figures.chart,
            "token": form_key.token,
        }

    def overview(self, view: ProcessView, refresh: int) -> str:
        """Return the first page."""
        rows = worst(view.rows, _FIRST_ROWS)
        return self._render("status.html", view, rows=rows, refresh=refresh, behind=_behind(view.rows))

    def flow(self, view: ProcessView, name: str, options: Sequence[OptionValue] = ()) -> str:
        """Return the page of a flow with the options that are given for it; raise 404 for one that is not there."""
        flow = view.flow(name)
        own = [row for row in view.rows if row.flow == name]
        topics = topic_rows(own)
        return self._render(
            "flow.html",
            view,
            flow=flow,
            rows=worst(own, _FIRST_ROWS),
            behind=_behind(own),
            streams=[row for row in view.streams if row.flow == name],
            topics=topics[:_MOST_TOPICS],
            options=options,
            more_topics=max(0, len(topics) - _MOST_TOPICS),
        )

    def group(self, view: ProcessView, name: str, group: GroupView) -> str:
        """Return the page of a flow's group; raise 404 for a flow that is not there."""
        return self._render("group.html", view, flow=view.flow(name), group=group)

    def partitions(self, view: ProcessView, wanted: RowsWanted) -> str:
        """Return a page of partitions."""
        rows = wanted.rows(view.rows)
        pages = max(1, -(-len(rows) // PAGE_LENGTH))
        page = min(wanted.page, pages)
        return self._render(
            "partitions.html",
            view,
            wanted=wanted,
            rows=rows[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH],
            count=len(rows),
            page=page,
            pages=pages,
            orders=list(_ORDERS),
        )

    def events(self, view: ProcessView) -> str:
        """Return the page of the last lines of the log."""
        return self._render("events.html", view)

    def notice(self, view: ProcessView, title: str, text: str) -> str:
        """Return a page that says why something was not done."""
        return self._render("notice.html", view, title=title, text=text)

    def _render(self, template: str, view: ProcessView, **more: object) -> str:
        return self._environment.get_template(template).render(view=view, worker=self._worker, **more)


def asset(name: str) -> bytes:
    """Return a file that the pages use."""
    return (HERE / "assets" / name).read_bytes()


def encoded(text: str) -> str:
    """Return a text as a part of an address: letters, digits and `%-._~` only."""
    return quote(text, safe="", errors="replace")


def _behind(rows: Sequence[PartitionRow]) -> int:
    return sum(map(is_behind, rows))


def _visible(value: object) -> object:
    """Return a text with its controls and invisible marks spelled out; what is markup already stays."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in value)

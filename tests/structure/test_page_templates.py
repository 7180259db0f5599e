"""Templates of the status page: nothing is exempt from escaping, and no name stands in a script, style or address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT

PAGE = CHECKOUT / "legacy_mm" / "connect" / "page"
TEMPLATES = sorted((PAGE / "templates").glob("*.html"))
FORBIDDEN = {
    r"\|\s*safe\b|\|\s*(?:forceescape|xmlattr|tojson)\b": "markup that is not escaped as all else",
    r"\bautoescape\b": "escaping that is switched",
    r"\s[\w-]+\s*=\s*\{\{": "an attribute without quotes",
    r"='": "an attribute in single quotes",
    r"<style\b|\sstyle=": "a style of its own",
    r"<script\b(?! src=\"/status/status\.js\" defer></script>)": "a script of its own",
    r"\son[a-z]+=": "a script in an attribute",
    r"http-equiv": "a header in the page",
    r"(?:href|action|src)=\"[^\"]*\{\{(?![^}\"]*\|\s*encoded \}\})": "a name in an address that is not encoded",
    r"(?:href|action|src)=\"\{\{": "an address that begins with a name",
}
"""Pattern -> what it would be."""


def violations(text: str) -> list[str]:
    return [what for pattern, what in FORBIDDEN.items() if re.search(pattern, text)]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_template_keeps_the_rules(template: Path) -> None:
    assert violations(template.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "{{ name | safe }}",
        "{% autoescape false %}",
        "<a title={{ name }}>",
        "<a title='{{ name }}'>",
        '<p style="color: red">',
        "<style>p { color: red }</style>",
        "<script>let name = 1</script>",
        '<script src="/status/other.js"></script>',
        '<a onclick="go()">',
        '<meta http-equiv="refresh">',
        '<a href="/status/{{ name }}">',
        '<a href="/status/{{ name|encoded }}/{{ name }}">',
        '<form action="{{ name|encoded }}">',
    ],
)
def test_a_template_that_breaks_one_is_found(text: str) -> None:
    assert len(violations(text)) >= 1


def test_no_code_makes_markup() -> None:
    for path in (*PAGE.glob("*.py"), CHECKOUT / "legacy_mm/connect/rest/page_resource.py"):
        text = path.read_text()
        assert "Markup" not in text
        assert not re.search(r"[\"']\s*<\w", text), f"{path.name} writes elements itself"
    assert "autoescape=True" in (PAGE / "status_page.py").read_text()
    assert "undefined=StrictUndefined" in (PAGE / "status_page.py").read_text()

"""How `Accept` and values are read."""

from __future__ import annotations

import pytest

from legacy_mm.connect.rest.rest_request import RestRequest, preference


@pytest.mark.parametrize(
    ("accept", "found"),
    [
        ("", (1.0, 0)),
        ("*/*", (1.0, 0)),
        ("application/*;q=0.5, */*", (0.5, 1)),
        ("application/json", (1.0, 2)),
        ("text/html, Application/JSON ; Q=0.2", (0.2, 2)),
        ("application/json;q=0, */*", (0.0, 2)),
        ("application/json;q=much", (0.0, 2)),
        ("text/html", (0.0, -1)),
    ],
)
def test_the_most_exact_range_counts(accept: str, found: tuple[float, int]) -> None:
    assert preference(accept, "application/json") == found


@pytest.mark.parametrize(("text", "found"), [("true", True), ("TRUE", True), ("1", False), ("", False), ("no", False)])
def test_a_boolean_is_true_or_else_false(text: str, found: bool) -> None:
    assert RestRequest({}, {"a": [text, "true"]}, b"").flag("a") is found
    assert RestRequest({}, {}, b"").flag("a") is False


def test_a_body_is_not_shown() -> None:
    assert "hush" not in repr(RestRequest({}, {}, b'{"password": "hush"}'))

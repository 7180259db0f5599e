"""Names that no cluster can have."""

from __future__ import annotations

import pytest

from legacy_mm.policies.target_names import obstacle, obstacles


@pytest.mark.parametrize(
    ("name", "present", "why"),
    [
        ("col.x", ["col_x"], "collides with topic col_x"),
        ("col_x", ["col.x"], "collides with topic col.x"),
        ("a.b_c", ["a_b.c"], "collides"),
        ("a" * 250, [], "250 letters"),
        ("a b", [], "does not take"),
        ("gr\u00fcn", [], "does not take"),
        ("", [], "does not take"),
        ("..", [], "does not take"),
        ("a" * 249, [], ""),
        ("col.x", ["col.x", "col-x"], ""),
    ],
)
def test_what_kafka_refuses(name: str, present: list[str], why: str) -> None:
    found = obstacle(name, present)
    assert (why in found) if why else not found


def test_what_is_there_has_no_obstacle_and_of_two_new_ones_the_first_wins() -> None:
    assert obstacles(["a.b", "a_b", "c.d", "e"], ["c.d"]).keys() == {"a_b"}
    assert obstacles(["c.d"], ["c.d", "c-d"]) == {}

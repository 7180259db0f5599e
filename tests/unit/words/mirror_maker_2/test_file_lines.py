"""Which line of a file a value comes from, and what is said of it."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.file_lines import FileLines, FlowSide, Place, RefusedLine

AB = Pair("A", "B")


@pytest.mark.parametrize(
    ("side", "key"),
    [
        ("source", "A->B.source.consumer.linger.ms"),
        ("source", "A->B.consumer.linger.ms"),
        ("source", "A.consumer.linger.ms"),
        ("source", "A->B.admin.linger.ms"),
        ("target", "A->B.producer.override.linger.ms"),
        ("target", "B.producer.linger.ms"),
        ("target", "B.linger.ms"),
        ("target", "linger.ms"),
        (None, "A->B.linger.ms"),
        (None, "linger.ms"),
    ],
)
def test_the_line_of_the_client_that_reads_it_is_named(side: FlowSide | None, key: str) -> None:
    """Whatever else has the same value: of the other side, of other flows, or a key that reaches no such client."""
    others = (
        "A.producer.linger.ms",
        "B.consumer.linger.ms",
        "A->B.producer.linger.ms",
        "B->A.linger.ms",
        "C.linger.ms",
    )
    file = DriverFile({"clusters": "A, B, C", **dict.fromkeys(others, "x"), key: "x"})
    assert str(file.lines(AB).refusal("linger.ms", "x", "why", side)) == f"{key} = x: why"


def test_a_line_with_another_value_is_not_the_one() -> None:
    file = DriverFile({"clusters": "A, B", "A->B.tasks.max": "3", "tasks.max": "x"})
    assert str(file.lines(AB).refusal("tasks.max", "x", "why")) == "tasks.max = x: why"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("5 # x", "; in such a file a comment needs a line of its own: take it away from behind the value"),
        ("5 // x", "; in such a file a comment needs a line of its own: take it away from behind the value"),
        ("5#x", ""),
        ("'5'", "; the quotes are a part of the value: leave them out"),
        ("five", ""),
    ],
)
def test_what_to_do_about_a_value(text: str, advice: str) -> None:
    assert str(FileLines().refusal("linger.ms", text, "why")) == f"linger.ms = {text}: why{advice}"


def test_an_error_of_several_lines_is_one() -> None:
    assert "\n" not in str(FileLines().refusal("bootstrap.servers", "x", "Failed\nCaused by: that"))


@pytest.mark.parametrize(("name", "named"), [("topics", True), ("groups", False), ("", False)])
def test_an_error_that_names_a_property_of_the_file_names_its_line(name: str, named: bool) -> None:
    error = ConfigurationError("no list")
    error.property_name = name
    error.add_note("a note")
    lines = FileLines(own=(Place("A->B.", {"topics": "["}),))
    with pytest.raises(ConfigurationError) as caught, lines.named():
        raise error
    assert str(caught.value) == ("A->B.topics = [: no list" if named else "no list")
    assert isinstance(caught.value, RefusedLine) == named
    assert caught.value.__notes__ == ["a note"]

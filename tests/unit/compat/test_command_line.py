"""The reading habits of joptsimple, and numbers and booleans as Java and Scala read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.compat.command_line import OptionError, ParsedLine, Word, parse
from legacy_mm.config.catalogue import OPTIONS


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("--include t", "t"),
        ("--include=t", "t"),
        ("-include t", "t"),
        ("-include=t", "t"),
        ("--include=a=b", "a=b"),
        ("--include=", ""),
        ("--include --whitelist t", "--whitelist"),
        ("--include -- t", "--"),
        ("x --include t y", "t"),
        ("- --include t", "t"),
    ],
)
def test_forms(words: str, value: str) -> None:
    line = parse(words.split(" "))
    assert line.value("include") == value
    assert not line.has("whitelist")


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ("--bogus=1", "bogus"),
        ("-daemon", "d"),
        ("-z", "z"),
        ("--incl t", "incl"),
        ("--Include t", "Include"),
        ("--num_streams 1", "num_streams"),
        ("--num.producers 1", "num.producers"),
        ("--shutdown.timeout 1", "shutdown.timeout"),
    ],
)
def test_unknown(words: str, unknown: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse(words.split())
    assert str(refused.value) == (
        f"joptsimple.UnrecognizedOptionException: {unknown} is not a recognized option"
    )


def test_missing_value() -> None:
    with pytest.raises(OptionError, match=r"Option num\.streams requires an argument"):
        parse(["--num.streams"])


def test_words_after_two_dashes_are_ignored() -> None:
    assert parse(["--", "--bogus", "--help"]) == ParsedLine()


def test_flags_ignore_values_and_repeats() -> None:
    assert parse(["--new.consumer=true", "--new.consumer", "true"]).has("new.consumer")


def test_repeated_option_fails_only_when_read() -> None:
    line = parse(["--whitelist", "a", "--whitelist", "b", "--include", "c"])
    assert line.value("include") == "c"
    with pytest.raises(OptionError, match="Found multiple arguments for option whitelist"):
        line.value("whitelist")


@pytest.mark.parametrize(
    "text", [" 1", "1.5", "0x2", "1_0", "", "abc", "2147483648", "١", "+", "-"]
)
def test_no_integers(text: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse([f"--num.streams={text}"]).integer("num.streams")
    assert str(refused.value).endswith(f"Cannot parse argument '{text}' of option num.streams")


@given(st.integers(-(2**31), 2**31 - 1))
def test_integers(number: int) -> None:
    for text in {f"{number}", f"{number:+d}", f"{number:012d}"}:
        assert parse(["-num.streams", text]).integer("num.streams") == number


@pytest.mark.parametrize("text", ["yes", "1", "", " true", "tru"])
def test_no_booleans(text: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse([f"--abort.on.send.failure={text}"]).boolean("abort.on.send.failure")
    assert str(refused.value) == f'java.lang.IllegalArgumentException: For input string: "{text}"'


@pytest.mark.parametrize(("text", "value"), [("true", True), ("FALSE", False), ("True", True)])
def test_booleans(text: str, value: bool) -> None:
    line = parse(["--abort.on.send.failure", text])
    assert line.boolean("abort.on.send.failure") is value


def test_defaults() -> None:
    line = parse([])
    assert line.integer("num.streams") == 1
    assert line.integer("offset.commit.interval.ms") == 60_000
    assert line.boolean("abort.on.send.failure")
    assert line.value("include") is None


def test_our_own_words_are_handed_on_in_one_form() -> None:
    words = ["-spark.master", "local", "--spark.conf=a=b", "--spark.conf", "--c=d", "--help"]
    line = parse(words)
    assert line.own_words == ["--spark.master=local", "--spark.conf=a=b", "--spark.conf=--c=d"]
    assert line.given == {"help": []}
    with pytest.raises(OptionError, match="given more than once"):
        parse(["--engine", "records", "--engine", "records"])


@given(st.lists(st.sampled_from(["--include", "-include=x", "--", "x", "-", "--help", "--engine"])))
def test_never_anything_but_an_option_error(words: list[str]) -> None:
    try:
        line = parse(words)
    except OptionError:
        return
    assert set(line.given) <= {"include", "help"}


def test_no_name_of_ours_is_an_old_one() -> None:
    from legacy_mm.compat.command_line import LEGACY_OPTIONS

    assert not {row.name for row in OPTIONS} & {row.name for row in LEGACY_OPTIONS}


@pytest.mark.parametrize("words", ["--exactly.once", "--connector.type=sink", "-transforms a", "--topics x"])
def test_features_that_are_not_there_are_refused_in_one_sentence(words: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse(words.split())
    name = words.split()[0].strip("-").partition("=")[0]
    assert str(refused.value) == (
        f"{name} is a feature of MirrorMaker 2 or of a Kafka proposal that this release does not have"
    )


def test_every_word_is_accounted_for() -> None:
    seen: list[Word] = []
    argv = ["x", "-include", "--whitelist", "--new.consumer=1", "--log.level=INFO", "--", "--help", "y"]
    parse(argv, seen)
    assert seen == [
        Word("x", "ignored"),
        Word("-include", "option", "include"),
        Word("--whitelist", "value", "include"),
        Word("--new.consumer=1", "option", "new.consumer"),
        Word("--log.level=INFO", "option", "log.level"),
        Word("--", "ignored"),
        Word("--help", "after --"),
        Word("y", "after --"),
    ]


def test_words_are_there_when_a_line_is_refused() -> None:
    seen: list[Word] = []
    with pytest.raises(OptionError):
        parse(["--num.streams", "2", "--bogus", "z"], seen)
    assert seen[-1] == Word("--bogus", "not an option", "bogus")
    assert len(seen) == 3

"""The reading habits of joptsimple, and numbers and booleans as Java and Scala read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.words.legacy_tool.command_line import ParsedLine, Word, early_value, parse, variables_of
from legacy_mm.words.legacy_tool.joptsimple import OptionError
from legacy_mm.words.legacy_tool.legacy_options import ROWS
from legacy_mm.words.legacy_tool.releases import grammar_of
from legacy_mm.words.options.option_catalogue import OPTIONS


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
    assert str(refused.value) == (f"joptsimple.UnrecognizedOptionException: {unknown} is not a recognized option")


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
    "text", [" 1", "1.5", "0x2", "1_0", "", "abc", "2147483648", "\U0001d7d9", "+", "-", 5000 * "1"]
)
def test_no_integers(text: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse([f"--num.streams={text}"]).integer("num.streams")
    assert str(refused.value) == (
        f"joptsimple.OptionArgumentConversionException: Cannot parse argument '{text}' of option num.streams\n"
        "Caused by: joptsimple.internal.ReflectionException: java.lang.NumberFormatException: "
        f'For input string: "{text}"\n'
        f'Caused by: java.lang.NumberFormatException: For input string: "{text}"'
    )


@given(st.integers(-(2**31), 2**31 - 1))
def test_integers(number: int) -> None:
    for text in {f"{number}", f"{number:+d}", f"{number:012d}"}:
        assert parse(["-num.streams", text]).integer("num.streams") == number


def test_digits_of_any_script() -> None:
    assert parse(["--num.streams", "-١٢"]).integer("num.streams") == -12


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
    assert not {row.name for row in OPTIONS} & {row.option.name for row in ROWS}


@pytest.mark.parametrize(
    "words", ["--exactly.once.support", "--connector.type=sink", "-transforms a", "--key.converter x"]
)
def test_features_that_are_not_there_are_refused_in_one_sentence(words: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse(words.split())
    name = words.split()[0].strip("-").partition("=")[0]
    assert str(refused.value) == (
        f"{name} is a feature of MirrorMaker 2 or of a Kafka proposal that this release does not have"
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("--include t --legacy.release 0.9", "0.9"),
        ("-legacy.release=1.1 --bogus", "1.1"),
        ("--include --legacy.release 0.9", "of the environment"),
        ("--queue.size --legacy.release 0.9", "of the environment"),
        ("-- --legacy.release 0.9", "of the environment"),
        ("--legacy.release", None),
    ],
)
def test_an_early_value_is_found_wherever_it_stands(words: str, found: str | None) -> None:
    environment = {"LEGACY_MM_LEGACY_RELEASE": "of the environment"}
    assert early_value("legacy.release", words.split(), environment) == found


def test_words_before_the_command_win_over_the_environment() -> None:
    words = ["env", "CLASSPATH=b.jar", "NEW=1", "kafka-mirror-maker.sh"]
    known = {"CLASSPATH": "a.jar", "HOME": "/h", "KAFKA_HOME": "/k"}
    assert variables_of(words, known) == {**known, "CLASSPATH": "b.jar", "NEW": "1"}


def test_every_word_has_a_role() -> None:
    seen: list[Word] = []
    with pytest.raises(OptionError):
        parse(["x", "-whitel", "t", "--engine=records", "--bogus", "--"], grammar_of("0.9"), seen)
    assert seen == [
        Word("x", "ignored"),
        Word("-whitel", "option", "whitelist"),
        Word("t", "value", "whitelist"),
        Word("--engine=records", "option", "engine"),
        Word("--bogus", "not an option", "bogus"),
    ]
    seen.clear()
    parse(["-hwt", "--", "--help"], grammar_of("0.10.1"), seen)
    assert seen == [Word("-hwt", "option", "whitelist"), Word("--", "ignored"), Word("--help", "after --")]


def test_an_option_of_an_older_release_is_named() -> None:
    with pytest.raises(OptionError) as refused:
        parse(["--queue.size", "5"])
    assert refused.value.__notes__ == [
        "--queue.size was an option up to Kafka 0.8.2: to have it, add --legacy.release 0.8.2 or set "
        "LEGACY_MM_LEGACY_RELEASE=0.8.2."
    ]
    assert parse(["--queue.size", "5"], grammar_of("0.8.2")).integer("queue.size") == 5


@pytest.mark.parametrize("words", ["--bogus", "--whitel t", "-z"])
def test_a_word_that_no_release_had_gets_no_hint(words: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse(words.split())
    assert not hasattr(refused.value, "__notes__")


def test_the_admin_port_is_no_property_of_the_admin_clients() -> None:
    line = parse(["--admin.port", "8083", "--admin.retries", "5"])
    assert line.own_words == ["--admin.port=8083", "--source.admin=retries=5"]

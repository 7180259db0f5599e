"""What `explain` finds out on this host: expressions, lists, handlers, listeners and policies, as the mirror does."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm import gateway
from tests.unit.cli.conftest import OLD_LINE, PRODUCER, Explain

WRONG_PATTERNS = {
    "*": "* is no Java regular expression (Dangling meta character '*'): .* was probably meant, which is every topic.",
    '"*"': ".* was probably meant, which is every topic.",
    "*,__*": ".*|__* was probably meant.",
    "**": ".* was probably meant, which is every topic.",
    "*.orders": ".*.orders was probably meant.",
    "orders.**": "orders.* was probably meant.",
    "(*)": "(.*) was probably meant.",
    "?": ".* was probably meant",
    "[a-z": "Unclosed character class",
    "(orders": "Unclosed group",
    "a{1": "write one, such as",
    "orders\\": "write one, such as",
    "\\p{NoSuch}": "write one, such as",
}


@pytest.mark.parametrize("option", ["--whitelist", "--include"])
@pytest.mark.usefixtures("one_java")
def test_a_pattern_that_does_not_compile(run: Explain, option: str) -> None:
    """Java decides without a cluster, too, and the line says what was probably meant."""
    for pattern, told in WRONG_PATTERNS.items():
        code, text = run(*OLD_LINE, option, pattern)
        plain = " ".join(text.split())
        assert code == 255, pattern
        assert plain.startswith(f"It would be refused: Invalid expression syntax: {pattern} "), plain[:200]
        assert told in plain


LISTS = {
    "--topics": "topics",
    "--topics.exclude": "topics.exclude",
    "--feature.topics": "feature.topics",
    "--groups": "groups",
    "--groups.exclude": "groups.exclude",
    "--config.properties.exclude": "config.properties.exclude",
}
GROUPS = ("emit.checkpoints.enabled=true", "emit.offset-syncs.enabled=true", "topic.creation=true")
ALIASES = ("source.cluster.alias=a", "target.cluster.alias=b")


@pytest.mark.parametrize("option", LISTS)
@pytest.mark.usefixtures("one_java")
def test_a_list_that_does_not_compile(run: Explain, option: str) -> None:
    features = (f"--{flag}" for flag in (*GROUPS, *ALIASES))
    code, text = run(*OLD_LINE, "--include", "t", *features, option, "*")
    assert code == 1
    assert text.startswith(f"It would be refused: {LISTS[option]}: * is no ")
    assert ".* was probably meant" in " ".join(text.split())


def test_without_java_it_is_said_what_was_not_tried(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str | None) -> Path:
        raise HostError("no Java")

    monkeypatch.setattr(gateway, "find_java", none)
    code, text = run(*OLD_LINE, "--include", "*")
    assert code == 0
    assert "Not known\n  the topic pattern *: no Java\n" in text
    assert "Not known" not in run(*OLD_LINE, "--include", "orders.*|payments")[1]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--message.handler", "gone.py:Handler"), 255, "gone.py"),
        (("--message.handler", "no.such.Handler"), 255, "java.lang.ClassNotFoundException: no.such.Handler"),
        (("--consumer.rebalance.listener", "no.such.Listener"), 1, "ClassNotFoundException: no.such.Listener"),
        (("--consumer.rebalance.listener", "gone.py:Listener"), 1, "gone.py"),
        (("--replication.policy.class", "no_such_module:Policy"), 1, "no_such_module"),
        (("--handler.step", "rename.map=(->x"), 1, "rename.map"),
    ],
)
@pytest.mark.usefixtures("one_java")
def test_what_the_mirror_cannot_load(run: Explain, words: tuple[str, ...], code: int, told: str) -> None:
    """Each ends the mirror before its streams start."""
    explained, text = run(*OLD_LINE, "--include", "t", *words)
    assert explained == code, text
    assert told in text


def test_a_listener_is_not_made(run: Explain, tmp_path: Path) -> None:
    (tmp_path / "listening.py").write_text(
        "from legacy_mm.handlers.api import RebalanceListener\n"
        "class Listener(RebalanceListener):\n    def __init__(self):\n        open('made', 'w')\n"
        "    def assigned(self, partitions):\n        pass\n    def revoked(self, partitions):\n        pass\n"
    )
    assert run(*OLD_LINE, "--include", "t", "--consumer.rebalance.listener", "listening.py:Listener")[0] == 0
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("KAFKA_HEAP_OPTS", "-Xmxlots", "Invalid maximum heap size: -Xmxlots"),
        ("JMX_PORT", "abc", "Invalid com.sun.management.jmxremote.port number: abc"),
    ],
)
def test_java_options_with_which_nothing_starts(
    run: Explain, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    """The mirror ends with 1; it was explained as one that runs."""
    monkeypatch.setenv(variable, value)
    code, text = run(*OLD_LINE, "--whitelist", "t")
    assert code == 1
    assert " ".join(text.split()).startswith(
        f"It would be refused: the Java process for Spark would not start: {told} "
    )


def test_a_reference_that_nobody_looks_up_is_a_warning(run: Explain) -> None:
    _, text = run(*OLD_LINE, "--include", "t", producer=f"{PRODUCER}client.id=${{vault:a/b:name}}\n")
    assert "client.id holds ${...}, which stays as it is written: config.providers names no such provider" in " ".join(
        text.split()
    )

"""When changed key stores are taken up, and what is said when they cannot be."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.controlplane.store_watch import StoreWatch, stamps


class Bench:
    """A store, a watch of it, and a hand-turned clock. `bad` cannot be read, `early` opens nothing yet."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.now = 0.0
        self.reads = 0
        store.write_text("first")
        files = [str(store)]
        self.watch = StoreWatch(files, stamps(files), self.read, self.try_out, lambda: self.now)

    def read(self) -> str:
        self.reads += 1
        text = self.store.read_text()
        if text == "bad":
            raise ConfigurationError("no store")
        return text

    def try_out(self, text: str) -> bool:
        if text == "early":
            raise HostError("not let in")
        return text != "first"

    def inspections(self, times: int = 2) -> str | None:
        """What is new after so many looks, each a minute after the one before."""
        for _ in range(times):
            self.now += 60
            self.watch.inspect()
        return self.watch.renewed


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "store")


def test_a_store_that_is_as_it_was_is_not_read(bench: Bench) -> None:
    assert bench.inspections(5) is None
    assert bench.reads == 0


def test_a_changed_store_is_read_when_it_is_the_same_twice(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    bench.store.write_text("half of it")
    assert bench.inspections(1) is None
    bench.store.write_text("all of it")
    assert bench.inspections(1) is None
    assert bench.inspections(1) == "all of it"
    assert bench.watch.used == stamps([str(bench.store)])
    (line,) = caplog.messages
    assert str(bench.store) in line


def test_another_file_in_its_place_is_a_change(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("other")
    other.rename(bench.store)
    assert bench.inspections() == "other"


def test_what_was_only_touched_is_nothing_new(bench: Bench) -> None:
    bench.store.write_text("first")
    assert bench.inspections(5) is None
    assert bench.reads == 1


@pytest.mark.parametrize(("text", "reason"), [("bad", "no store"), ("early", "not let in")])
def test_what_is_no_good_yet_is_waited_for_and_told_once(
    bench: Bench, caplog: pytest.LogCaptureFixture, text: str, reason: str
) -> None:
    caplog.set_level(logging.WARNING)
    bench.store.write_text(text)
    bench.inspections()
    assert caplog.messages == [], "it may still be written"
    assert bench.inspections(5) is None
    (line,) = caplog.messages
    assert reason in line
    assert bench.reads == (1 if text == "early" else 6), "what could be read is not read again"
    bench.store.write_text("good")
    assert bench.inspections() == "good"
    assert len(caplog.messages) == 1


def test_a_failed_try_is_not_repeated_at_once(bench: Bench) -> None:
    bench.store.write_text("bad")
    bench.inspections()
    for _ in range(5):
        bench.watch.inspect()
    assert bench.reads == 1


def test_a_store_that_is_gone_is_waited_for(bench: Bench) -> None:
    bench.store.rename(bench.store.with_name("aside"))
    bench.watch.inspect()
    bench.store.with_name("aside").write_text("new")
    bench.store.with_name("aside").rename(bench.store)
    assert bench.inspections() == "new"

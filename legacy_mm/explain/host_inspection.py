"""Asks this host about a line before any cluster: Java about expressions, stores and classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from legacy_mm.base.errors import ConfigurationError, HostError, InvalidPattern
from legacy_mm.base.settings import JvmSettings
from legacy_mm.flow import key_stores, plugins
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.policies.pattern_words import compiles_anywhere
from legacy_mm.policies.topic_choice import Matcher
from legacy_mm.runtime.jvm import jvm_options
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.runtime.jvm.java_home import find_java


class _Check(NamedTuple):
    """Something the mirror does before its streams start."""

    what: str
    run: Callable[[], object]


class _Unasked:
    """Stands for an expression that needs no Java to be one; nobody asks what it matches."""

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Match nothing."""
        return frozenset()


def inspect(flows: Sequence[Settings], java: StartJvm) -> tuple[str, ...]:
    """Return what this host could not try, and why; raises LegacyMMError for what ends a mirror.

    It checks in the mirror's order, so it names the fault that the mirror would name.
    """
    untried = []
    for check in _checks(flows, java):
        try:
            check.run()
        except HostError as error:
            untried.append(f"{check.what}: {error}")
    return tuple(untried)


def _checks(flows: Sequence[Settings], java: StartJvm) -> Iterator[_Check]:
    """Yield the checks; all flows have one listener."""
    yield _Check("the Java options", partial(_start, flows[0].process.spark.jvm))
    if listener := flows[0].listener:
        yield _Check("the rebalance listener", partial(plugins.check_listener, listener, java))
    for settings in flows:
        yield _Check("key and trust stores", partial(key_stores.with_stores, settings, java))
        if handler := settings.handler:
            yield _Check("the message handler", partial(plugins.ready_handler, handler, java))
        yield _Check(f"the topic pattern {settings.topics.pattern}", partial(_compile, settings, java))


def _start(wishes: JvmSettings) -> None:
    if wishes.options and (reason := jvm_options.obstacle(find_java(wishes.java_home), wishes.options)) is not None:
        raise ConfigurationError(f"the Java process for Spark would not start: {reason}")


def _compiler(java: StartJvm) -> Callable[[str], Matcher]:
    """Return what raises InvalidPattern for an expression that Java refuses; it asks Java only where it must."""
    return lambda pattern: _Unasked() if compiles_anywhere(pattern) else java().topic_matcher(pattern)


def _compile(settings: Settings, java: StartJvm) -> None:
    names = FlowTopics(settings.topics, settings.features, _compiler(java))
    names.try_expressions()
    try:
        names.choice()
    except InvalidPattern as error:
        refused = InvalidPattern(f"Invalid expression syntax: {settings.topics.pattern_text}")
        if error.advice:
            refused.add_note(error.advice)
        raise refused from error

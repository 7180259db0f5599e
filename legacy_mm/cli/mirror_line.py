"""The command line of a mirror, as commands of ours take it behind `--`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from legacy_mm.base.errors import ConfigurationError, UsageError
from legacy_mm.base.redaction import Secrets
from legacy_mm.base.settings import JvmSettings
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.key_stores import with_stores
from legacy_mm.policies.topic_choice import Matcher
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.spark.session import java_when_asked
from legacy_mm.words.java_clients.client_properties.apply import Hide, hidden_in_errors
from legacy_mm.words.legacy_tool import command_line, environment
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.steps import distinct
from legacy_mm.words.legacy_tool.translate import MirrorRun, translate
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver, driver_line
from legacy_mm.words.mirror_maker_2.circle_guard import Circles
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.mirror_maker_2.file_lines import FileLines
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun


@dataclass(frozen=True, slots=True)
class LineParts:
    """The words of a mirror's command line, for commands that only need what it names."""

    consumer: str
    """The path of its consumer file; of its producer file."""
    producer: str
    topics: str
    """A pattern as in `--include`; empty if the line says which topics are left out."""
    own: list[str]
    """Options of ours, as `cli.parser` takes them."""
    others: list[str]
    """All words but files and topics."""
    variables: Mapping[str, str] = field(repr=False)
    """The environment, with what stands before the command."""
    java: JvmSettings = field(repr=False)


@dataclass(frozen=True, slots=True)
class DriverFlow:
    """A flow of MirrorMaker 2's files that copies, for commands that do not run it."""

    run: FlowRun
    flows: tuple[FlowRun, ...]
    """All flows of the files."""
    own: tuple[str, ...]
    """Options of ours behind the files."""

    def consumer(self) -> dict[str, str]:
        """Return the Java properties of its consumer; may hold secrets."""
        return self.run.consumer.java_properties()

    def producer(self) -> dict[str, str]:
        """Return the Java properties of its producer; may hold secrets."""
        return self.run.producer.java_properties()

    def names(self, settings: Settings, matcher: Callable[[], Callable[[str], Matcher]]) -> FlowTopics:
        """Return the names of its topics under these settings; raises ConfigurationError.

        `matcher` returns the compiler of Java's regular expressions once Java runs.
        """
        circles = Circles(self.flows, matcher)
        circles.check(self.run.pair)
        return FlowTopics(
            settings.topics,
            settings.features,
            lambda pattern: matcher()(pattern),
            leaves_out=partial(circles.closed_by, self.run.pair),
        )


class MirrorLine:
    """A command line of `kafka-mirror-maker.sh`, or of MirrorMaker 2, with or without the command itself.

    Nothing is read before it is asked for. Methods raise LegacyMMError for a line that would not run.
    """

    def __init__(self, words: Sequence[str] = (), flow: str = "") -> None:
        """Take the words, and the name of the flow that is meant if there are several."""
        self.words = tuple(words)
        self._flow = flow
        self._secrets = Secrets()

    @property
    def is_mirror_maker_2(self) -> bool:
        """True for a line with a file of MirrorMaker 2, or files of its connectors."""
        return driver_line.is_driver(self.words) or connect_line.is_connect(self.words)

    def replacing(self, words: Sequence[str], *options: str) -> MirrorLine:
        """Return the line with these words in the place of these options; raises ConfigurationError."""
        launcher, argv, variables = self._called()
        seen: list[command_line.Word] = []
        command_line.parse(argv, command_line.grammar_asked_for(argv, variables), seen)
        kept = (word.text for word in seen if word.option not in options)
        return MirrorLine([*launcher, *words, *kept], self._flow)

    def parts(self) -> LineParts:
        """Return what a line of `kafka-mirror-maker.sh` names; raises UsageError without files, or for several
        sources.
        """
        launcher, argv, variables = self._called()
        seen: list[command_line.Word] = []
        parsed = command_line.parse(argv, command_line.grammar_asked_for(argv, variables), seen)
        consumers, producers = distinct(parsed.values("consumer.config")), parsed.values("producer.config")
        if len(consumers) != 1 or not producers:
            raise UsageError(
                "behind -- comes the command line of a mirror, with one --consumer.config and --producer.config"
            )
        topics = next((texts[0] for name in ("include", "whitelist") if (texts := parsed.values(name))), "")
        named = {"consumer.config", "producer.config", "include", "whitelist", "blacklist"}
        others = [word.text for word in seen if word.option not in named]
        java = environment.read_call(variables, launcher).jvm
        return LineParts(consumers[0], producers[0], topics, parsed.own_words, others, variables, java)

    def flows(self) -> tuple[Settings, ...]:
        """Return what the mirror would run with, a flow each."""
        with hidden_in_errors() as hide:
            return self._flows(hide)

    def refused(self) -> Mapping[str, str]:
        """Return the flows of MirrorMaker 2's file that would not run beside `flows`, and why."""
        if not self.is_mirror_maker_2:
            return {}
        with hidden_in_errors() as hide:
            refused = self._driver_run(hide).refused
        return {str(each.pair): self.hidden(str(each.error)) for each in refused if each.copies}

    def hidden(self, text: str) -> str:
        """Return a text without the secrets of the files that were read."""
        return self._secrets.hidden(text)

    def lines_of_flows(self) -> Mapping[str, FileLines]:
        """Return the lines that each flow of MirrorMaker 2's file reads; nothing for another command line."""
        if not self.is_mirror_maker_2:
            return {}
        with hidden_in_errors() as hide:
            return {each.settings.flow: each.lines for each in self._driver_run(hide).flows}

    def _flows(self, hide: Hide) -> tuple[Settings, ...]:
        if self.is_mirror_maker_2:
            return tuple(each.settings for each in self._driver_run(hide).flows)
        launcher, argv, variables = self._called()
        grammar = command_line.grammar_asked_for(argv, variables)
        java = environment.read_call(variables, launcher)
        outcome = translate(argv, lambda words: read_own_options(words, variables), [], grammar, hide, java)
        if not isinstance(outcome, MirrorRun):
            raise UsageError("behind -- comes the command line of a mirror that runs")
        return outcome.flows

    def only_flow(self) -> Settings:
        """Return the one of `flows` that copies, or is meant by its name; raises UsageError if several do."""
        flows = [each for each in self.flows() if each.streams]
        refused = self.refused()
        names = [*(each.flow for each in flows), *refused]
        if self._flow in refused:
            raise ConfigurationError(f"{self._flow} would not run: {refused[self._flow]}")
        if self._flow:
            if self._flow not in names:
                raise UsageError(f"no flow {self._flow} copies: {' and '.join(names) or 'none'} would")
            return flows[names.index(self._flow)]
        if len(names) != 1 and self.is_mirror_maker_2:
            named = f": name one by --flow: {', '.join(names)}" if flows else ""
            raise UsageError(f"the file has {len(names)} flows that copy{named}")
        if len(flows) > 1:
            raise UsageError("the command line has several sources: name one --consumer.config")
        return flows[0]

    def driver_flow(self) -> DriverFlow:
        """Return `only_flow` of a line of MirrorMaker 2 with what its files say of its clients."""
        return self.driver_flows()[self.only_flow().flow]

    def driver_flows(self) -> Mapping[str, DriverFlow]:
        """Return the flows of MirrorMaker 2's files by their names; nothing for another command line."""
        if not self.is_mirror_maker_2:
            return {}
        with hidden_in_errors() as hide:
            runs = self._driver_run(hide).flows
        return {each.settings.flow: DriverFlow(each, runs, self._driver_words()) for each in runs}

    @contextmanager
    def flow_with_stores(self) -> Iterator[tuple[Settings, Callable[[], Jvm]]]:
        """Yield `only_flow`, or the first of several sources, with the contents of its key stores, and Java on
        request.
        """
        with _with_stores(self.only_flow() if self.is_mirror_maker_2 else self.flows()[0]) as found:
            yield found

    @contextmanager
    def only_flow_with_stores(self) -> Iterator[tuple[Settings, Callable[[], Jvm]]]:
        """Yield `only_flow` in the same way."""
        with _with_stores(self.only_flow()) as found:
            yield found

    def _called(self) -> tuple[Sequence[str], Sequence[str], Mapping[str, str]]:
        """Return the command with the words before it, its arguments, and the variables that it sees."""
        launcher, argv = command_line.split_call(self.words)
        return launcher, argv, command_line.variables_of(launcher, os.environ)

    def _driver_words(self) -> tuple[str, ...]:
        if connect_line.is_connect(self.words):
            return connect_line.parse(connect_line.split_call(self.words)[1]).own_words
        return driver_line.parse(driver_line.split_call(self.words)[1]).own_words

    def _driver_run(self, hide_in_errors: Hide) -> DriverRun:
        def hide(secrets: Iterable[str]) -> None:
            found = tuple(secrets)
            hide_in_errors(found)
            self._secrets.add(found)

        if connect_line.is_connect(self.words):
            launcher, argv = connect_line.split_call(self.words)
            variables = command_line.variables_of(launcher, os.environ)
            files = connect_line.parse(argv)
            own = read_own_options(files.own_words, variables)
            clients = ClientTranslation(environment.read(variables), own, hide=hide)
            return driver.translate_connect(connect_files.load(files, hide), clients)
        launcher, argv = driver_line.split_call(self.words)
        variables = command_line.variables_of(launcher, os.environ)
        parsed = driver_line.parse(argv)
        own = read_own_options(parsed.own_words, variables)
        file = driver.load(parsed)
        hide(file.secrets)
        clients = ClientTranslation(environment.read_call(variables, launcher), own, hide=hide)
        return driver.translate_driver(file, clients)


@contextmanager
def _with_stores(settings: Settings) -> Iterator[tuple[Settings, Callable[[], Jvm]]]:
    with java_when_asked(settings.process.spark.jvm) as java:
        yield with_stores(settings, java), java

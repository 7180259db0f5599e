"""The releases of the legacy tool and how each of them behaved at the shell: one `Grammar` for each.

`_CHANGES` says what each era changed, oldest first. Facts: contract 1.2-1.6,
and the runs in `compat/recorded`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.properties_file import FileErrors
from legacy_mm.words.legacy_tool import defaults, legacy_options, messages
from legacy_mm.words.legacy_tool.defaults import Default
from legacy_mm.words.legacy_tool.joptsimple import (
    JOPTSIMPLE_3_2,
    JOPTSIMPLE_4_9,
    JOPTSIMPLE_5_0_3,
    JOPTSIMPLE_5_0_4,
    Joptsimple,
    LegacyOption,
)
from legacy_mm.words.legacy_tool.legacy_options import VersionNumbers

Step = Literal["topics", "numbers", "consumer", "producer", "pattern"]
ConsumerChoice = Literal["zookeeper", "flag", "file", "kafka"]
"""Choice of the consumer: the ZooKeeper one; that one unless --new.consumer; that one if the file names
zookeeper.connect. Kafka's.
"""
VersionAnswer = Literal["unknown", "script", "commit", "plain"]

RELEASES: dict[VersionNumbers, str] = {
    (0, 8, 0): "",
    (0, 8, 1, 1): "",
    (0, 8, 2, 2): "",
    (0, 9, 0, 1): "",
    (0, 10, 0, 1): "",
    (0, 10, 1, 1): "",
    (0, 10, 2, 2): "",
    (0, 11, 0, 3): "",
    (1, 0, 2): "",
    (1, 1, 1): "",
    (2, 0, 1): "fa14705e51bd2ce5",
    (2, 1, 1): "21234bee31165527",
    (2, 2, 2): "1d348535a0a747d1",
    (2, 3, 1): "18a913733fb71c01",
    (2, 4, 1): "c57222ae8cd7866b",
    (2, 5, 1): "0efa8fb0f4c73d92",
    (2, 6, 3): "c24cbd3f5eeffa1e",
    (2, 7, 2): "37a1cc36bf4d76f3",
    (2, 8, 2): "3146c6ff4a24cc24",
    (3, 0, 2): "25b1aea02e37da14",
    (3, 1, 2): "f8c67dc3ae0a3265",
    (3, 2, 3): "50029d3ed8ba576f",
    (3, 3, 2): "b66af662e61082cb",
    (3, 4, 1): "8a516edc2755df89",
    (3, 5, 2): "",
    (3, 6, 2): "",
    (3, 7, 2): "",
    (3, 8, 1): "",
    (3, 9, 1): "",
}
"""The last patch of each release; the commit where --version shows it."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules of one release for reading its command line, and its messages about it."""

    since: VersionNumbers
    joptsimple: Joptsimple
    steps: tuple[Step, ...]
    """Steps after the parsing, in order."""
    consumer: ConsumerChoice
    topics_missing: str
    """Message if Kafka's consumer is used and no topics are named."""
    release: VersionNumbers = ()
    options: Mapping[str, LegacyOption] = field(default_factory=dict)
    abbreviations: bool = True
    about: str = "Continuously copy data between two Kafka clusters."
    usage_without_words: bool = True
    help_fails: bool = False
    """`--help` is the usage on stderr and exit 1, not the options on stdout and exit 0."""
    version: VersionAnswer = "unknown"
    catches_errors: bool = True
    """Else the JVM prints them."""
    refusals_logged: bool = True
    """Else topic options that do not fit are refused on stdout."""
    fatal_level: int = logging.CRITICAL
    deprecated: bool = False
    assignment_warning: str = ""
    consumer_defaults: tuple[Default, ...] = defaults.CONSUMER_DEFAULTS
    zookeeper_defaults: tuple[Default, ...] = defaults.ZOOKEEPER_CONSUMER_DEFAULTS
    producer_defaults: tuple[Default, ...] = ()
    file_errors: FileErrors = properties_file.STREAM_ERRORS
    servers_required: bool = True
    """Kafka's clients demand bootstrap.servers as they read their properties, not when they are made."""
    pattern_cleaned: bool = True
    """Kafka's consumer is given the cleaned text, not the raw one."""
    internal_topics: bool = False
    """Kafka's consumer mirrors them."""
    empty_pattern_fails: bool = False
    group_demanded: bool = False
    """A stream without group.id fails as it subscribes; before, no group was the group of that empty name."""
    dns_lookup_default: bool = True
    """client.dns.lookup may be `default`, which was the first of a name's addresses."""

    @property
    def name(self) -> str:
        """`2.8.2`."""
        return dotted(self.release)

    @property
    def version_text(self) -> str:
        """Output of `--version`."""
        if self.version == "plain":
            return self.name
        return f"{self.name} (Commit:{RELEASES.get(self.release) or 'unknown'})"

    def option_table(self) -> str:
        """Return the options as the help shows them."""
        return self.joptsimple.option_table(tuple(self.options.values()))

    def usage(self) -> str:
        """Return the output for a call without words."""
        return f"{self.about}\n{self.option_table()}"


_OLDEST = Grammar(
    since=(0, 8),
    joptsimple=JOPTSIMPLE_3_2,
    steps=("topics", "numbers", "consumer", "producer", "pattern"),
    consumer="zookeeper",
    topics_missing=messages.ONE_LIST_WANTED,
    usage_without_words=False,
    catches_errors=False,
    refusals_logged=False,
    zookeeper_defaults=(),
)
_CHANGES: tuple[tuple[VersionNumbers, Mapping[str, Any]], ...] = (
    ((0, 8, 2), {"usage_without_words": True}),
    (
        (0, 9),
        {
            "steps": ("topics", "numbers", "producer", "pattern", "consumer"),
            "consumer": "flag",
            "catches_errors": True,
            "zookeeper_defaults": defaults.ZOOKEEPER_CONSUMER_DEFAULTS,
            "producer_defaults": defaults.PRODUCER_DEFAULTS_0_9,
            "pattern_cleaned": False,
            "internal_topics": True,
        },
    ),
    (
        (0, 10),
        {
            "joptsimple": JOPTSIMPLE_4_9,
            "topics_missing": "whitelist must be specified when using new consumer in mirror maker.",
            "refusals_logged": True,
            "producer_defaults": defaults.PRODUCER_DEFAULTS_0_10,
            "internal_topics": False,
        },
    ),
    (
        (0, 10, 1),
        {
            "steps": ("consumer", "topics", "numbers", "producer", "pattern"),
            "consumer": "file",
            "assignment_warning": messages.ASSIGNMENT_WARNING_NEW_CONSUMER,
        },
    ),
    ((0, 10, 2), {"joptsimple": JOPTSIMPLE_5_0_3, "pattern_cleaned": True}),
    ((0, 11), {"abbreviations": False}),
    ((1,), {"joptsimple": JOPTSIMPLE_5_0_4}),
    ((1, 1), {"fatal_level": logging.ERROR, "servers_required": False}),
    (
        (2,),
        {
            "consumer": "kafka",
            "topics_missing": "whitelist must be specified",
            "assignment_warning": messages.ASSIGNMENT_WARNING,
            "version": "script",
        },
    ),
    ((2, 1), {"producer_defaults": defaults.PRODUCER_DEFAULTS, "file_errors": properties_file.PATH_ERRORS}),
    (
        (2, 2),
        {
            "about": "This tool helps to continuously copy data between two Kafka clusters.",
            "help_fails": True,
            "group_demanded": True,
        },
    ),
    ((2, 3), {"version": "commit"}),
    ((2, 6), {"empty_pattern_fails": True}),
    ((3,), {"topics_missing": messages.INCLUDE_MISSING, "deprecated": True, "dns_lookup_default": False}),
    ((3, 5), {"version": "plain"}),
)
"""Changes by release; `_OLDEST` is the state before the first of them."""


def _eras() -> tuple[Grammar, ...]:
    eras = [_OLDEST]
    for since, changes in _CHANGES:
        eras.append(replace(eras[-1], since=since, **changes))
    return tuple(eras)


ERAS = _eras()


def dotted(version: VersionNumbers) -> str:
    """Format `(2, 8, 2)` as Kafka writes it."""
    return ".".join(map(str, version))


def find_release(text: str) -> VersionNumbers:
    """Return the release that `3.9`, `0.8.2.1` or `2` names; a line of releases names its last patch."""
    words = text.split(".")
    wanted = tuple(map(int, words)) if all(word.isascii() and word.isdigit() for word in words) else ()
    for newest in reversed(RELEASES):
        if wanted and wanted == newest[: len(wanted)]:
            return newest
        if wanted[:-1] == newest[:-1]:
            return wanted
    raise ConfigurationError(
        f"Option --legacy.release: {text!r} is no release of Kafka that had this tool; "
        "possible are 0.8.0 to 3.9, such as 0.8.2 or 2.8.1"
    )


def grammar_of(text: str) -> Grammar:
    """Return the grammar of the release that this text names; raises ConfigurationError."""
    release = find_release(text)
    era = [era for era in ERAS if era.since <= release][-1]
    return replace(era, release=release, options=legacy_options.options_of(release))


CURRENT = grammar_of(messages.VERSION)


def option_was_in(name: str, before: VersionNumbers) -> VersionNumbers | None:
    """Return the last release before this one that had the option; None if none had it."""
    for release in reversed(RELEASES):
        if release < before and name in legacy_options.options_of(release):
            return release
    return None

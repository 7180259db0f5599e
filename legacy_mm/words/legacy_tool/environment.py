"""The variables of the old start script, and what it made of them (contract 2.2).

The script put unquoted variables on Java's command line, so each is split at blanks, and quotes are plain characters;
not so in those that Java itself read. A variable that is unset or empty leaves our own choice in force.
"""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.base.redaction import java_secret
from legacy_mm.base.settings import LEAST_HEAP, JvmSettings
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool import misspelt
from legacy_mm.words.legacy_tool.java_process import CLASS_NAMES
from legacy_mm.words.legacy_tool.messages import OWN

_BLANKS = re.compile(r"[^ \t\n]+")
_MAXIMUM_HEAP = re.compile(r"(?:-Xmx|-XX:MaxHeapSize=)(\d{1,19})([kmgt]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_CLASS_PATH = ("-cp", "-classpath", "--class-path")
_NAME, _OF_SCRIPT = "-name", ("-daemon", "-loggc")
"""Options of kafka-run-class.sh itself; the first one has a value."""
KAFKA_HOME = "LEGACY_MM_KAFKA_HOME"
_LOGGING = "-Dlog4j"
"""Such words are for the log of the mirror (`compat/log4j`); Java, and Spark in it, have a log of our own."""
_JMX = "-Dcom.sun.management.jmxremote"
_JMX_DEFAULT = f"{_JMX}=true {_JMX}.authenticate=false {_JMX}.ssl=false"


@dataclass(frozen=True, slots=True)
class Environment:
    """The settings from the variables."""

    jvm: JvmSettings = JvmSettings()
    notes: tuple[Note, ...] = ()
    debug: str | None = None
    """The line the script printed on stdout when KAFKA_DEBUG was set."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values of `-D` properties that no line may show."""
    kafka_home: str = ""
    """The installation whose script this one replaces: its jars were on the legacy tool's class path."""


def read(variables: Mapping[str, str], words: Sequence[str] = ()) -> Environment:
    """Return the settings for Java; `words` are Java options from before the class name."""
    debugging = _debug_options(variables)
    given = [word for word in java_words(variables, words) if not word.startswith(_LOGGING)]
    given, class_path = _without_class_path(given)
    options = tuple(_with_enough_heap(option) for option in given)
    small = next((option for option, kept in zip(given, options, strict=True) if option != kept), None)
    return Environment(
        jvm=JvmSettings(options, class_path or variables.get("CLASSPATH", ""), variables.get("JAVA_HOME") or None),
        notes=(*(() if small is None else (_raised(small),)), *map(_without_effect, misspelt.in_variables(variables))),
        debug=f"Enabling Java debug options: {debugging}" if debugging else None,
        secrets=tuple(found for option in options if (found := java_secret(option))),
        kafka_home=kafka_home(variables),
    )


def read_call(variables: Mapping[str, str], launcher: Sequence[str]) -> Environment:
    """Return the settings for a command of which `launcher` are all words up to the script or class."""
    return read(variables, java_options(launcher))


def java_options(launcher: Sequence[str]) -> list[str]:
    """Return Java's own among the words up to the command: those right before a class name; a script takes none."""
    found: list[str] = []
    if launcher[-1:] and launcher[-1] in CLASS_NAMES:
        words = iter(launcher[:-1])
        for word in words:
            if word in _CLASS_PATH:
                found += [word, next(words, "")]
            elif word == _NAME:
                next(words, "")
            elif not word.startswith("-"):
                found = []  # a command that runs Java, such as `nice -n 5 java`
            elif word not in _OF_SCRIPT:
                found.append(word)
    return found


def java_words(variables: Mapping[str, str], words: Sequence[str] = ()) -> list[str]:
    """Return all options that the legacy tool's Java had, in its order: the later of two for one thing wins."""
    script = (
        variables.get("KAFKA_HEAP_OPTS", ""),
        variables.get("KAFKA_JVM_PERFORMANCE_OPTS", ""),
        variables.get("KAFKA_GC_LOG_OPTS", ""),
        _jmx_options(variables),
        variables.get("KAFKA_LOG4J_OPTS", ""),
        _debug_options(variables),
        variables.get("KAFKA_OPTS", ""),
    )
    return [
        *_quoted_words(variables.get("JAVA_TOOL_OPTIONS", "")),
        *_quoted_words(variables.get("JDK_JAVA_OPTIONS", "")),
        *(word for text in script for word in _BLANKS.findall(text)),
        *words,
        *_quoted_words(variables.get("_JAVA_OPTIONS", "")),
    ]


def kafka_home(variables: Mapping[str, str]) -> str:
    """Return the installation that this one replaces; empty if none is named."""
    return variables.get(KAFKA_HOME) or variables.get("KAFKA_HOME", "")


def _quoted_words(text: str) -> list[str]:
    """Split a variable that Java itself read: quotes of both kinds keep words together, and nothing is escaped."""
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters, words.escape = True, "", ""
    try:
        return list(words)
    except ValueError:  # a quote is not closed; Java did not start with it
        return text.split()


def _jmx_options(variables: Mapping[str, str]) -> str:
    options, port = variables.get("KAFKA_JMX_OPTS", ""), variables.get("JMX_PORT", "")
    if not port:
        return options
    options = f"{options or _JMX_DEFAULT} {_JMX}.port={port}"
    return options if f"{_JMX}.rmi.port=" in options else f"{options} {_JMX}.rmi.port={port}"


def _debug_options(variables: Mapping[str, str]) -> str:
    if not variables.get("KAFKA_DEBUG"):
        return ""
    suspend, port = variables.get("DEBUG_SUSPEND_FLAG") or "n", variables.get("JAVA_DEBUG_PORT") or "5005"
    usual = f"-agentlib:jdwp=transport=dt_socket,server=y,suspend={suspend},address={port}"
    return variables.get("JAVA_DEBUG_OPTS") or usual


def _without_class_path(given: Sequence[str]) -> tuple[list[str], str]:
    """Return the other options, and the last class path among them: ours, with Spark, must not be replaced."""
    options, class_path = [], ""
    words = iter(given)
    for word in words:
        if word in _CLASS_PATH:
            class_path = next(words, "")
        elif word.startswith("--class-path="):
            class_path = word.partition("=")[2]
        else:
            options.append(word)
    return options, class_path


def _with_enough_heap(option: str) -> str:
    size = _MAXIMUM_HEAP.fullmatch(option)
    if size and int(size[1]) * _UNITS[size[2].lower()] < LEAST_HEAP:
        return f"-Xmx{LEAST_HEAP}"
    return option


def _without_effect(text: str) -> Note:
    return Note(logging.WARNING, OWN, f"{text}.")


def _raised(option: str) -> Note:
    return Note(logging.INFO, OWN, f"{option} is raised to 512 MB, the least that Spark takes.")

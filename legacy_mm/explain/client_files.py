"""The properties files that a command line names, as `explain` sees them: as far as each can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.redaction import is_secret_property, looks_secret
from legacy_mm.words.java_clients import jaas, properties_file
from legacy_mm.words.java_clients.client_properties.apply import RULES, Translated
from legacy_mm.words.java_clients.client_properties.rule import Rule, SecretText, Side
from legacy_mm.words.java_clients.properties_file import PropertyEntry
from legacy_mm.words.legacy_tool.releases import Grammar
from legacy_mm.words.legacy_tool.steps import distinct
from legacy_mm.words.legacy_tool.translate import MirrorRun

_ROWS: Mapping[Side, Mapping[str, Rule]] = {side: {row.name: row for row in rows} for side, rows in RULES.items()}


@dataclass(frozen=True, slots=True)
class ClientFile:
    """One of them."""

    side: Side
    path: str
    label: str
    """The side, with the path where it has several files."""
    entries: Sequence[PropertyEntry] = ()
    client: Translated | None = None
    """The translation, if the line would run."""

    @property
    def lines(self) -> dict[str, int]:
        """The line that counts, of each property."""
        return {entry.name: entry.line for entry in self.entries}

    @property
    def properties(self) -> dict[str, str]:
        """The text that counts, of each property."""
        return {entry.name: entry.text for entry in self.entries}

    def row(self, name: str) -> Rule | None:
        """Return the rule for a property of this file."""
        return _ROWS[self.side].get(name)

    def is_secret(self, name: str) -> bool:
        """Return True for a property whose value no line may show."""
        row = self.row(name)
        return isinstance(row.type, SecretText) if row else looks_secret(name) or is_secret_property(name)

    def secrets(self) -> set[str]:
        """Return texts that no line may show."""
        logins = [entry.text for entry in self.entries if entry.name == "sasl.jaas.config"]
        found = {entry.text for entry in self.entries if self.is_secret(entry.name)}
        return found | {text for login in logins for text in _login_secrets(login)}


def read(given: Mapping[str, Sequence[str]], grammar: Grammar, run: MirrorRun | None) -> Iterator[ClientFile]:
    """Yield the files that a release would read, consumers first; `run` is present if the line would run."""
    consumers = distinct(given.get("consumer.config", ()))[: None if grammar.consumer == "zookeeper" else 1]
    sides: Sequence[tuple[Side, Sequence[str], Sequence[Translated]]] = (
        ("consumer", consumers, run.consumers if run else ()),
        ("producer", given.get("producer.config", ())[:1], (run.producer,) if run else ()),
    )
    for side, paths, clients in sides:
        for number, path in enumerate(paths):
            entries: Sequence[PropertyEntry] = ()
            with suppress(ConfigurationError):
                entries = properties_file.load_entries(path, grammar.file_errors)
            label = f"{side} {path}" if len(paths) > 1 else side
            yield ClientFile(side, path, label, entries, clients[number] if clients else None)


def _login_secrets(login: str) -> set[str]:
    with suppress(ConfigurationError):
        return {value for name, value in jaas.parse(login).options.items() if looks_secret(name)}
    return set()

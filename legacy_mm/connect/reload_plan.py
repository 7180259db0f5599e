"""The plan of a reload: for each flow and key what changes or stays as it is, in values that anybody may see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from legacy_mm.base.redaction import HIDDEN, known_secrets
from legacy_mm.connect.entities import JsonObject
from legacy_mm.logs import events, root_logger

RELOAD = "/legacy-mm/reload"
"""The path at the admin port; it is ours, and not Connect's."""
DRY_RUN = "dry.run"
"""The parameter with which nothing is changed."""
BY_FILES = "changed by what its files name"
KEEPS_POSITIONS = "it says where the flow keeps how far it has copied: end the process, and start it again"
"""Why a key does not change while the process runs."""


class FlowAction(Enum):
    """The change of a flow."""

    NONE = "none"
    CHANGE = "change"
    ADD = "add"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key with another value, None where it is not there; secrets are hidden."""

    key: str
    before: str | None
    after: str | None
    kept_because: str = ""
    """Why the value from before stays; empty: the new one holds."""

    @classmethod
    def of(cls, key: str, before: str | None, after: str | None, kept_because: str = "") -> KeyChange:
        """Return the change without its secrets."""
        return cls(key, _shown(key, before), _shown(key, after), kept_because)

    def body(self) -> JsonObject:
        """Return it as JSON."""
        kept = {"kept_because": self.kept_because} if self.kept_because else {}
        return {"key": self.key, "before": self.before, "after": self.after, **kept}

    def text(self) -> str:
        """Return it as a line."""
        return change_text(self.key, self.before, self.after, self.kept_because)


def change_text(key: str, before: str | None, after: str | None, kept_because: str = "") -> str:
    """Return a line about a key; the values of a secret are not shown."""
    values = "another value, not shown" if before == after == HIDDEN else f"{_word(before)} -> {_word(after)}"
    return f"{key}: {values}" + (f"; left as it is: {kept_because}" if kept_because else "")


def _word(value: str | None) -> str:
    return "none" if value is None else value


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """The plan for one flow."""

    flow: str
    action: FlowAction
    keys: Sequence[KeyChange] = ()
    """Empty where the flow changes by the content of what its files name, such as a certificate."""

    @classmethod
    def of(cls, flow: str, changes: Sequence[KeyChange] | None, left: Sequence[KeyChange]) -> FlowPlan:
        """Return the plan for a flow that is there; `changes` None: it does the same. `left` stays as it is."""
        if changes is None:
            return cls(flow, FlowAction.NONE, left)
        return cls(flow, FlowAction.CHANGE, [*changes, *left])

    def body(self) -> JsonObject:
        """Return it as JSON."""
        return {"flow": self.flow, "action": self.action.value, "keys": [each.body() for each in self.keys]}

    def tell(self) -> None:
        """Log a line for each change, once it has begun."""
        done = {FlowAction.ADD: ["added"], FlowAction.REMOVE: ["removed"], FlowAction.CHANGE: [BY_FILES]}
        lines = [each.text() for each in self.keys] or done.get(self.action, [])
        for text in lines:
            events.emit(events.RELOADED, what=self.flow, change=text)


@dataclass(frozen=True, slots=True)
class ReloadPlan:
    """The plan of a reload."""

    flows: Sequence[FlowPlan]
    process: Sequence[KeyChange] = ()
    """The options that all flows share: they are left as they are."""
    log_levels: Sequence[KeyChange] = ()

    def body(self, *, dry_run: bool) -> JsonObject:
        """Return it as JSON; `dry_run`: nothing of it was done."""
        return {
            "dry_run": dry_run,
            "flows": [each.body() for each in self.flows],
            "process": [each.body() for each in self.process],
            "log_levels": [each.body() for each in self.log_levels],
        }


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[KeyChange]:
    """Return a change for each key that is new, gone, or has another value."""
    keys = dict.fromkeys((*before, *after))
    return [KeyChange.of(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]


def without(changes: Iterable[KeyChange], names: Collection[str], beginnings: Sequence[str]) -> list[KeyChange]:
    """Return the changes of all other keys, where a key is such a name, also behind one of these beginnings."""
    left = {f"{each}{name}" for each in ("", *beginnings) for name in names}
    return [each for each in changes if each.key not in left]


def _shown(key: str, text: str | None) -> str | None:
    if text is None:
        return None
    return HIDDEN if known_secrets({key: text}) else root_logger.hidden(text)

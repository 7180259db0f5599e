"""A feature flag: an option with its other spellings, its needs, its rights and its step on the ladder."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.option import Option, boolean, count_or_default, positive_seconds


@dataclass(frozen=True, slots=True)
class Relation:
    """Another flag that must be given too."""

    name: str
    because: str
    by_name: bool = False
    """True if the other flag's default does not count."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One row: an option, and how it gets along with the others."""

    option: Option
    synonyms: tuple[str, ...] = ()
    """Spellings of KIP-382 and of older releases."""
    needs: tuple[Relation, ...] = ()
    """The flags that it needs when it is on."""
    rights: tuple[str, str] = ("", "")
    """Further rights of the principals: at the source, at the target."""
    step: int = 0
    """The place on the ladder of an upgrade; 0: it only shapes another flag."""
    changes: str = ""
    """The changes at the clusters when it is turned on, and what stays when it is turned off."""

    @property
    def name(self) -> str:
        """The flag's name today."""
        return self.option.name

    @property
    def is_feature(self) -> bool:
        """It switches something on that the legacy tool did not do."""
        return self.step > 0


def switch(name: str, help_: str, owner: str) -> Option:
    """Make a flag that is true or false; off."""
    return Option(name=name, default="false", argument="true|false", help=help_, owner=owner, type=boolean)


def seconds(name: str, default: int, help_: str, owner: str) -> Option:
    """Make an interval in seconds."""
    return Option(name, str(default), "seconds", help_, owner, type=positive_seconds)


def replication_factor(topic: str, owner: str) -> Option:
    """Make the replication factor of a topic of ours."""
    return Option(
        f"{topic}.topic.replication.factor",
        "-1",
        "number",
        f"Of the topic of {topic}; -1 is what the brokers have. (MirrorMaker 2 has 3.)",
        owner,
        type=count_or_default,
    )

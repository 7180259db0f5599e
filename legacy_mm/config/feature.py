"""What a feature flag is: an option with its other spellings, its needs, its rights and its step on the ladder."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.config.option import Option, boolean, positive_seconds


@dataclass(frozen=True, slots=True)
class Relation:
    """Another flag that must be given too."""

    name: str
    because: str
    by_name: bool = False
    """Its default does not count."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One row: an option, and how it gets along with the others."""

    option: Option
    synonyms: tuple[str, ...] = ()
    """Spellings of KIP-382 and of older releases."""
    needs: tuple[Relation, ...] = ()
    """Where it is on."""
    rights: tuple[str, str] = ("", "")
    """What the principals must be allowed besides mirroring: at the source, at the target."""
    step: int = 0
    """Its place on the ladder of an upgrade; 0: it only shapes another one."""
    changes: str = ""
    """What switching it on changes on the clusters, and what stays when it is switched off again."""

    @property
    def name(self) -> str:
        """The flag's name today."""
        return self.option.name

    @property
    def is_feature(self) -> bool:
        """It switches something on that the legacy tool did not do."""
        return self.step > 0


def switch(name: str, help_: str, owner: str) -> Option:
    """A flag that is true or false; off."""
    return Option(name=name, default="false", argument="true|false", help=help_, owner=owner, type=boolean)


def seconds(name: str, default: int, help_: str, owner: str) -> Option:
    """An interval."""
    return Option(name, str(default), "seconds", help_, owner, type=positive_seconds)

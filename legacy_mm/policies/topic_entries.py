"""Entries of a choice of topics: the alternatives of a pattern, or the members of a list, judged one by one.

An entry that no topic can match is a slip of the pen: brokers have names of letters, digits, dots, dashes and
underscores only, so a blank, a `#` or a quote is no part of one. What Java's syntax may give such a sign another
meaning for is left to Java.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from legacy_mm.policies.topic_choice import Matcher
from legacy_mm.policies.topic_letters import has_legal_letters

_SPLITS, _GROUPS, _ANY_NUMBER = "|", "()[]{}\\", "?*"
_SYNTAX = f".+^${_ANY_NUMBER}"
_CALLED = {" ": "a blank", "\t": "a tab"}


def alternatives(pattern: str) -> tuple[str, ...]:
    """Return the alternatives of a pattern; one with groups, classes or escapes is not taken apart."""
    if any(sign in pattern for sign in _GROUPS):
        return (pattern,)
    return tuple(filter(None, pattern.split(_SPLITS)))


def unfit_signs(entry: str) -> tuple[str, ...]:
    """Return the signs because of which no topic can match an alternative; none where one may, or only Java knows."""
    if any(sign in entry for sign in _GROUPS + _SPLITS):
        return ()
    followed = zip(entry, f"{entry[1:]} ", strict=True)
    found = (sign for sign, behind in followed if behind not in _ANY_NUMBER and sign not in _SYNTAX)
    return tuple(dict.fromkeys(sign for sign in found if not has_legal_letters(sign)))


def unfit_entries(option: str, expressions: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each alternative of these expressions that no topic can match."""
    for entry in (entry for expression in expressions for entry in alternatives(expression)):
        if signs := unfit_signs(entry):
            called = " and ".join(_CALLED.get(sign, sign) for sign in signs)
            yield f"{option}: {entry!r} matches no topic, because no topic's name has {called}; take it out"


def unmatched(expressions: Sequence[str], mirrored: Collection[str], matcher: Callable[[str], Matcher]) -> list[str]:
    """Return the alternatives that match none of these topics; `matcher` compiles what is no name among them."""
    entries = dict.fromkeys(entry for expression in expressions for entry in alternatives(expression))
    return [entry for entry in entries if entry not in mirrored and not matcher(entry).matching(mirrored)]

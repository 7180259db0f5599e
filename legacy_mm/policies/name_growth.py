"""Topics of the source that are copies of its own topics, and copies of these: their names grow by each round. Pure.

A user may call a topic like one copy of another. Several rounds, each of which adds the same, are nobody's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

_ROUNDS, _ROUNDS_OF_OUR_OWN = 2, 3
"""Number of rounds that prove it; more where only our own prefix is added: a user's topics may have it, too."""


def endless_copies(mirrored: Iterable[str], remote: Callable[[str], str]) -> tuple[str, ...]:
    """Return topics of which each is a copy of the one before that has come back; none where nothing goes round.

    `mirrored`: the topics that a flow copies; `remote` returns the name of the copy.
    """
    copies = {copy: topic for topic in mirrored if (copy := remote(topic)) != topic}
    come_back = {topic: copied for topic in copies.values() for copied in _copied(topic, copies)}
    for topic, (_, added) in sorted(come_back.items()):
        rounds = tuple(_rounds(topic, come_back))
        if len(rounds) >= (_ROUNDS if added else _ROUNDS_OF_OUR_OWN):
            return (*reversed(rounds), topic)
    return ()


def _copied(topic: str, copies: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the topic whose copy this one is by its name, and what stands before the name of that copy."""
    for begin in range(len(topic)):
        copied = copies.get(topic[begin:])
        if copied is not None and copied != topic:
            yield copied, topic[:begin]
            return


def _rounds(topic: str, come_back: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield the topic that this one is a copy of, the one that that one is a copy of, and so on, as long as the same
    was added.
    """
    _, added = come_back[topic]
    while (found := come_back.get(topic)) is not None and found[1] == added:
        topic = found[0]
        yield topic

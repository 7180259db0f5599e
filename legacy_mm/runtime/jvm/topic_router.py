"""Java regular expressions for whole names of topics, and what they make of them: `rename.map` and RegexRouter."""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from legacy_mm.base.errors import ConfigurationError, HandlerFailure, StreamFailure
from legacy_mm.runtime.jvm.gateway import Jvm

_PYTHONS_GROUP = re.compile(r"\\(\d)|\\g<(\w+)>")
"""A group as Python's replacements have it, which ours had before they were Java's."""


class TopicRouter:
    """Java's own `Pattern` and `Matcher`, called as RegexRouter calls them.

    That is: of a name that matches as a whole the first place is replaced where the expression is found, and that place
    may be shorter than the name.
    """

    def __init__(self, jvm: Jvm, expression: str, replacement: str) -> None:
        """Compile the expression; raise InvalidPattern with the reason in Java's words."""
        jvm.topic_matcher(expression)
        self._pattern = jvm.connect().jvm.java.util.regex.Pattern.compile(expression)
        self._replacement = replacement

    def routed(self, topic: str) -> str:
        """Return the new name, or the old one where it does not match.

        Raise HandlerFailure for a replacement that Java refuses, StreamFailure when Java does not answer.
        """
        try:
            matcher = self._pattern.matcher(topic)
            return str(matcher.replaceFirst(self._replacement)) if matcher.matches() else topic
        except Py4JJavaError as error:
            said = error.java_exception.getMessage()
            raise HandlerFailure(f"replacement={self._replacement} is not possible for {topic}: {said}") from None
        except (Py4JError, OSError) as error:
            raise StreamFailure("the Java process for Spark does not answer") from error


class TopicRename:
    """Java's own `Pattern` and `Matcher`."""

    def __init__(self, jvm: Jvm, expression: str, replacement: str) -> None:
        r"""Create the rename; `replacement` names groups by `$1` and `${name}`; also by `\1`.

        Raise InvalidPattern, and ConfigurationError for a missing group.
        """
        self._matcher = jvm.topic_matcher(expression)
        self._replacement = _PYTHONS_GROUP.sub(_javas_group, replacement)
        compiled = jvm.connect().jvm.java.util.regex.Pattern.compile
        try:
            self._whole = compiled(rf"\A(?:{expression})\z")
            self.sample = self._replaced(compiled(f"(?:{expression})|"), "")
        except Py4JJavaError as error:
            said = error.java_exception.getMessage()
            raise ConfigurationError(f"{expression}->{replacement} is not possible: {said}") from None

    sample: str
    """The name that empty groups give."""

    def renamed(self, topic: str) -> str | None:
        """Return the new name, or None for a topic that does not match. Raise StreamFailure when Java does not
        answer.
        """
        if topic not in self._matcher.matching([topic]):
            return None
        try:
            return self._replaced(self._whole, topic)
        except (Py4JError, OSError) as error:
            raise StreamFailure("the Java process for Spark does not answer") from error

    def _replaced(self, pattern: Any, text: str) -> str:
        return str(pattern.matcher(text).replaceFirst(self._replacement))


def _javas_group(match: re.Match[str]) -> str:
    number, name = match.groups()
    return f"${number or name}" if (number or name).isdigit() else f"${{{name}}}"

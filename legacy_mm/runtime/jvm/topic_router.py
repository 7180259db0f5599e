"""Connect's RegexRouter: a Java regular expression for whole names of topics, and what it makes of them."""

from __future__ import annotations

from py4j.protocol import Py4JError, Py4JJavaError

from legacy_mm.base.errors import HandlerFailure, StreamFailure
from legacy_mm.runtime.jvm.gateway import Jvm


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

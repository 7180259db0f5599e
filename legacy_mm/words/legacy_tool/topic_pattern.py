"""The legacy tool's cleaning of `--include` and `--whitelist` (contract 3.3); the result is compiled
later, by Java.
"""

from __future__ import annotations

from legacy_mm.base.settings import TopicSettings

_JAVA_BLANKS = "".join(map(chr, range(0x21)))
"""Characters that `String.trim` cuts."""
_QUOTES = "\"'"


def rewrite(text: str) -> str:
    """Rewrite `"foo, bar.*"` to `foo|bar.*`; commas inside braces too, as the legacy tool did."""
    return text.strip(_JAVA_BLANKS).replace(",", "|").replace(" ", "").strip(_QUOTES)


def topic_settings(text: str, *, exclude_internal: bool, cleaned: bool = True, inverted: bool = False) -> TopicSettings:
    """Return the settings of a pattern, with the user's own text for messages."""
    return TopicSettings(
        pattern=rewrite(text) if cleaned else text,
        pattern_text=text,
        exclude_internal=exclude_internal,
        inverted=inverted,
    )

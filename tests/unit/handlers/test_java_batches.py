"""With which options the JVM of a message handler is started."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers.java_batches import JavaBatches


class Started(Exception):
    """With these options."""


def start(*options: str, **_: Any) -> None:
    raise Started(*options)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("-Dmy.registry=http://r:1", "-Xmx1g", "-Xss1m"), ["-Dmy.registry=http://r:1", "-Xmx1g", "-Xss1m"]),
        (("-XX:+UseG1GC", "-javaagent:a.jar=1", "-Xlog:gc"), []),
        (("-Dcom.sun.management.jmxremote=true", "-Dcom.sun.management.jmxremote.port=9999"), []),
        (("-Xms512m",), []),
    ],
    ids=["its own", "of another collector, agents", "a port that is taken", "more at first than our most"],
)
def test_options_that_a_second_jvm_can_have(
    monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], kept: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jpype", SimpleNamespace(startJVM=start, isJVMStarted=lambda: False))
    with pytest.raises(Started) as started:
        JavaBatches(HandlerSettings(name="h.Ok", java_options=given), Path("/java/bin/java"), [])
    assert {"-Xrs", "-Xmx256m", "--enable-native-access=ALL-UNNAMED"} <= {*started.value.args}
    assert [option for option in started.value.args if option in given] == kept

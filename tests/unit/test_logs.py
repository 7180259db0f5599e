"""The log line: the old layout, the old words, and never a secret."""

from __future__ import annotations

import logging
import re

import pytest

from legacy_mm import events, logs
from legacy_mm.compat.messages import WORDING


@pytest.fixture(autouse=True)
def restore_logging() -> object:
    """Leave the process's logging as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers, root.level = handlers, level
    for name in ("legacy_mm", "kafka", "org.apache.kafka", "py4j"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_the_old_layout_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("INFO", WORDING)
    events.emit(events.SHUTDOWN_STARTED)
    line = capsys.readouterr().err
    assert re.fullmatch(
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] INFO Start clean shutdown\. \(kafka\.tools\.MirrorMaker\$\)\n", line
    )


def test_a_healthy_mirror_is_silent_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("WARN", WORDING)
    for event in (events.STARTING, events.ASSIGNED, events.SHUTDOWN_STARTED, events.SHUTDOWN_FINISHED):
        events.emit(event, stream=0, generation=1, partitions="[]")
    assert capsys.readouterr().err == ""


def test_the_level_of_an_event_is_the_level_of_its_wording() -> None:
    """Else a line would be filtered by one level and printed with another."""
    assert {event.name: event.level for event in WORDING} == {e.name: w.level for e, w in WORDING.items()}


@pytest.mark.parametrize("level", ["WARN", "TRACE"])
def test_invariant_g_no_secret_even_in_a_traceback(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level, WORDING, ["geheim", "geheimer"])
    try:
        raise ValueError("password=geheimer")
    except ValueError as error:
        events.emit(events.STREAM_FAILED, error=error, stream=0, reason="login with geheim failed")
        logging.getLogger("kafka.tools.MirrorMaker$").error("geheim", extra={"detail": "geheim again"})
    printed = capsys.readouterr().err
    assert "geheim" not in printed
    assert printed.count("[hidden]") >= 3


def test_tracebacks_are_for_debug_logging_only(capsys: pytest.CaptureFixture[str]) -> None:
    for level, expected in (("WARN", False), ("DEBUG", True)):
        logs.configure(level, WORDING)
        try:
            raise ValueError("x")
        except ValueError as error:
            events.emit(events.STREAM_FAILED, error=error, stream=0, reason="x")
        assert ("Traceback" in capsys.readouterr().err) is expected


def test_py4j_speaks_through_the_root_logger_and_is_not_heard(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("WARN", WORDING)
    for folder in ("py4j", "legacy_mm"):
        path = f"/site-packages/{folder}/java_gateway.py"
        logging.getLogger().handle(logging.LogRecord("root", logging.ERROR, path, 1, f"from {folder}", (), None))
    printed = capsys.readouterr().err
    assert "from legacy_mm" in printed
    assert "from py4j" not in printed

"""Lines of events and loggers: the old words, to the right places, and never a secret."""

from __future__ import annotations

import errno
import gzip
import json
import logging
import re
import threading
import warnings
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import pytest

from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log_settings import (
    DEBUG,
    INFO,
    LEVELS,
    OFF,
    WARN,
    Appender,
    Console,
    Layout,
    LogFile,
    LoggerSettings,
    LogSettings,
)
from legacy_mm.words.legacy_tool.messages import TOOL, WORDING

BARE = Layout("%p %m (%c)%n")


def at(level: str) -> LogSettings:
    return LogSettings().with_root_level(LEVELS[level])


def to_file(path: Path, level: int = INFO, **file: object) -> LogSettings:
    appender = Appender("file", LogFile(str(path), **file), BARE)  # type: ignore[arg-type]
    return LogSettings({"": LoggerSettings(level, ("file",))}, {"file": appender})


def test_the_old_layout_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(at("INFO"), WORDING)
    events.emit(events.SHUTDOWN_STARTED)
    line = capsys.readouterr().err
    assert re.fullmatch(
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] INFO Start clean shutdown\. \(kafka\.tools\.MirrorMaker\$\)\n", line
    )


def test_threads_have_the_old_tool_s_names(tmp_path: Path) -> None:
    path = tmp_path / "mm.log"
    appender = Appender("file", LogFile(str(path)), Layout("%t%n"))
    root_logger.configure(LogSettings({"": LoggerSettings(INFO, ("file",))}, {"file": appender}), WORDING)
    for name in ("MainThread", "stream-12", "metrics"):
        thread = threading.Thread(target=logging.getLogger("a").info, args=("x",), name=name)
        thread.start()
        thread.join()
    assert path.read_text() == "main\nmirrormaker-thread-12\nmetrics\n"


def test_what_features_change_is_said_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Unless a level was asked for."""
    for settings in (LogSettings(), LogSettings().with_root_level(WARN)):
        root_logger.configure(settings, WORDING)
        events.emit(events.DUTY_CHANGED, duty="topic-configs", change="set a of topic t: from 1 to 2")
        events.emit(events.DUTY_CHANGED_WITH_EFFECT, duty="topic-configs", change="set b", effect="records go")
    said = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()]
    warning = "WARN [topic-configs] set b: records go (legacy_mm.changes)"
    assert said == ["INFO [topic-configs] set a of topic t: from 1 to 2 (legacy_mm.changes)", warning, warning]


def test_a_healthy_mirror_is_silent_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(LogSettings(), WORDING)
    for event in (events.STARTING, events.ASSIGNED, events.SHUTDOWN_STARTED, events.SHUTDOWN_FINISHED):
        events.emit(event, stream=0, generation=1, partitions="[]")
    assert capsys.readouterr().err == ""


def test_the_level_of_an_event_is_the_level_of_its_wording() -> None:
    """Else a line would be filtered by one level and printed with another."""
    assert {event.name: event.level for event in WORDING} == {e.name: w.level for e, w in WORDING.items()}


def test_levels_and_places_are_those_of_the_logger_the_wording_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root_logger.configure(
        LogSettings(
            {
                "": LoggerSettings(WARN, ("out",)),
                "kafka.tools": LoggerSettings(INFO, ("file",)),
                "kafka.tools.MirrorMaker$MirrorMakerThread": LoggerSettings(INFO, ("file",), additive=False),
                "org.apache.kafka": LoggerSettings(OFF),
            },
            {
                "out": Appender("out", Console("stdout"), BARE),
                "file": Appender("file", LogFile(str(tmp_path / "a" / "mm.log")), BARE),
            },
        ),
        WORDING,
    )
    events.emit(events.STARTING)
    events.emit(events.STREAM_STARTED, stream=3)
    events.emit(events.TOPICS_CHANGED, topics="t")
    events.emit(events.CLIENT_ERROR, client="c", text="away")
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out == f"INFO Starting mirror maker ({TOOL})\n"
    assert (tmp_path / "a" / "mm.log").read_text() == (
        f"INFO Starting mirror maker ({TOOL})\n"
        "INFO [mirrormaker-thread-3] Starting mirror maker thread mirrormaker-thread-3 "
        "(kafka.tools.MirrorMaker$MirrorMakerThread)\n"
    )


def test_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "mm.log"
    appender = Appender("file", LogFile(str(path)), BARE, threshold=WARN)
    root_logger.configure(LogSettings({"": LoggerSettings(DEBUG, ("file",))}, {"file": appender}), WORDING)
    logging.getLogger("a").info("quiet")
    logging.getLogger("a").error("loud")
    assert path.read_text() == "ERROR loud (a)\n"


def test_a_file_that_cannot_be_made_again_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who logs goes on; once it can be made, lines are written again."""
    path = tmp_path / "log" / "mm.log"
    root_logger.configure(to_file(path), {})
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("in the way")
    for _ in range(2):
        logging.getLogger("a").info("lost")
    assert capsys.readouterr().err.count("cannot write") == 1
    path.parent.unlink()
    logging.getLogger("a").info("kept")
    assert path.read_text() == "INFO kept (a)\n"


@pytest.mark.parametrize("how", [{}, {"max_bytes": 30, "backups": 2}, {"dated": True, "rolled": "%d{yyyy}"}])
@pytest.mark.parametrize("gone", ["file", "folder"])
def test_a_file_is_made_again_when_somebody_removes_it(
    how: dict[str, Any], gone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its folder too, also where the file is about to be rolled."""
    path = tmp_path / "log" / "mm.log"
    root_logger.configure(to_file(path, **how), {})
    logging.getLogger("a").info("line 0 of many")
    path.unlink()
    if gone == "folder":
        path.parent.rmdir()
    for number in (1, 2):
        logging.getLogger("a").info("line %d of many", number)
    written = "".join(file.read_text() for file in sorted(path.parent.iterdir(), reverse=True))
    assert written == "INFO line 1 of many (a)\nINFO line 2 of many (a)\n"
    assert capsys.readouterr().err == ""


def test_a_file_rolled_by_size(tmp_path: Path) -> None:
    path = tmp_path / "mm.log"
    root_logger.configure(to_file(path, max_bytes=30, backups=2), {})
    for number in range(6):
        logging.getLogger("a").info("line %d of many", number)
    found = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert found == {
        "mm.log": "INFO line 5 of many (a)\n",
        "mm.log.1": "INFO line 4 of many (a)\n",
        "mm.log.2": "INFO line 3 of many (a)\n",
    }


def test_a_file_rolled_by_size_under_other_names_and_packed(tmp_path: Path) -> None:
    rolled = str(tmp_path / "old" / "mm-%d{yyyy}-%i.log.gz")
    root_logger.configure(to_file(tmp_path / "mm.log", max_bytes=30, rolled=rolled), {})
    for number in range(3):
        logging.getLogger("a").info("line %d of many", number)
    (packed,) = (tmp_path / "old").iterdir()
    assert packed.name == f"mm-{datetime.now():%Y}-1.log.gz"
    assert gzip.decompress(packed.read_bytes()) == b"INFO line 1 of many (a)\n"


def test_a_file_rolled_by_date_is_moved_under_the_name_of_its_own_period(tmp_path: Path) -> None:
    path = tmp_path / "mm.log"
    root_logger.configure(to_file(path, dated=True, rolled=f"{path}%d{{'.'yyyy-MM-dd}}"), {})
    logging.getLogger("a").info("today")
    record = logging.LogRecord("a", logging.INFO, "x.py", 1, "tomorrow", (), None)
    record.created += 86_400
    logging.getLogger("a").handle(record)
    assert (tmp_path / f"mm.log.{datetime.now():%Y-%m-%d}").read_text() == "INFO today (a)\n"
    assert path.read_text() == "INFO tomorrow (a)\n"


def test_a_file_that_cannot_be_rolled_by_size_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The older file is moved once for as many lines as a file has, not for each."""
    path = tmp_path / "mm.log"
    root_logger.configure(to_file(path, max_bytes=60, backups=2, rolled=f"{path}.%i.gz"), {})
    (tmp_path / "mm.log.1.gz").write_bytes(b"older")
    (tmp_path / "mm.log.2.gz").mkdir()
    for number in range(4):
        logging.getLogger("a").info("line %d of many", number)
    assert path.read_text() == "".join(f"INFO line {number} of many (a)\n" for number in range(4))
    (complaint,) = capsys.readouterr().err.splitlines()
    assert complaint.startswith("Log appender file cannot roll its file: ")
    assert (tmp_path / "mm.log.1.gz").read_bytes() == b"older"
    (tmp_path / "mm.log.2.gz").rmdir()
    logging.getLogger("a").info("line %d of many", 4)
    assert path.read_text() == "INFO line 4 of many (a)\n"
    assert (tmp_path / "mm.log.2.gz").read_bytes() == b"older"


def test_a_full_disk_leaves_no_part_of_a_packed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mm.log"
    root_logger.configure(to_file(path, max_bytes=30, rolled=f"{path}.%i.gz"), {})

    def fail(plain: IO[bytes], packed: IO[bytes]) -> None:
        packed.write(plain.read(5))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", fail)
    for number in range(3):
        logging.getLogger("a").info("line %d of many", number)
    assert [file.name for file in tmp_path.iterdir()] == ["mm.log"]
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("append", [True, False])
def test_a_file_that_cannot_be_rolled_by_date_goes_on(
    append: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mm.log"
    root_logger.configure(to_file(path, dated=True, append=append, rolled=f"{path}/no/%d{{yyyy-MM-dd}}"), {})
    logging.getLogger("a").info("today")
    for text in ("tomorrow", "later"):
        record = logging.LogRecord("a", logging.INFO, "x.py", 1, text, (), None)
        record.created += 86_400
        logging.getLogger("a").handle(record)
    assert path.read_text() == "INFO today (a)\nINFO tomorrow (a)\nINFO later (a)\n"
    assert capsys.readouterr().err.count("Log appender file cannot roll its file: ") == 1


def test_a_file_that_cannot_be_opened_is_said_and_the_console_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    root_logger.configure(to_file(tmp_path / "file" / "mm.log"), WORDING)
    events.emit(events.STARTING)
    first, second = capsys.readouterr().err.splitlines()
    assert re.search(r"WARN Log appender file is left out, its file cannot be opened: .* \(legacy_mm\)$", first)
    assert second.endswith(f"INFO Starting mirror maker ({TOOL})")


def test_a_full_disk_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(to_file(Path("/dev/full")), {})
    for _ in range(3):
        logging.getLogger("a").info("x")
    assert capsys.readouterr().err == "Log appender file cannot write: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("settings", [LogSettings(), to_file(Path("/dev/full"))])
def test_without_a_console_a_line_that_cannot_be_written_is_lost(
    settings: LogSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python has None where a process was started with a closed descriptor."""
    monkeypatch.setattr("sys.stderr", None)
    root_logger.configure(settings, {})
    logging.getLogger("a").error("x")


def test_json_for_the_console_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    console = Appender("out", Console(), BARE)
    file = Appender("file", LogFile(str(tmp_path / "mm.log")), BARE)
    settings = LogSettings({"": LoggerSettings(INFO, ("out", "file"))}, {"out": console, "file": file})
    root_logger.configure(settings.with_json_console(), WORDING)
    events.emit(events.STREAM_FAILED, error=ValueError("x"), stream=1, reason="no luck")
    told = json.loads(capsys.readouterr().err)
    del told["time"]
    assert told == {
        "level": "ERROR",
        "logger": "kafka.tools.MirrorMaker$MirrorMakerThread",
        "message": "[mirrormaker-thread-1] Mirror maker thread failure due to ",
        "event": "stream-failed",
        "fields": {"stream": 1, "reason": "no luck"},
        "detail": "no luck",
    }
    assert (tmp_path / "mm.log").read_text().startswith("ERROR [mirrormaker-thread-1]")


def test_json_names_the_exception_at_debug_level(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(at("DEBUG").with_json_console(), WORDING)
    events.emit(events.STREAM_FAILED, error=ValueError("x"), stream=1, reason="no luck")
    assert json.loads(capsys.readouterr().err)["exception"] == {"class": "ValueError", "message": "x"}


SECRETS = ["geheim", "geheimer", "sl/ash:at@", "PEM line one\nPEM line two, long enough"]
LEAKS = [
    "login with geheim failed",
    "geheimer",
    "https://h/?p=sl%2Fash%3Aat%40",
    "only PEM line two, long enough of it",
    '{"key": "PEM line one\\nPEM line two, long enough"}',
    "https://somebody:unknown1@registry/x",
    'required password="unknown2" x',
    "ssl.key.password=unknown3, next",
    "Authorization: Basic unknown4",
    "-----BEGIN RSA PRIVATE KEY-----\nunknown5\n-----END RSA PRIVATE KEY-----",
]
PLAIN = re.compile(r"geheim|sl/ash|sl%2Fash|PEM line|unknown\d")


@pytest.mark.parametrize("level", ["WARN", "TRACE"])
@pytest.mark.parametrize("json_lines", [False, True])
@pytest.mark.parametrize("leak", LEAKS)
def test_invariant_g_no_secret_in_any_part_of_a_line(
    leak: str, json_lines: bool, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = at(level).with_json_console() if json_lines else at(level)
    root_logger.configure(settings, WORDING, SECRETS[:1])
    root_logger.hide(SECRETS[1:])
    try:
        raise ValueError(leak)
    except ValueError as error:
        events.emit(events.STREAM_FAILED, error=error, stream=0, reason=leak)
    logging.getLogger(TOOL).error("%s", leak, extra={"detail": f"{leak} again"})
    logging.getLogger("legacy_mm.librdkafka").error(leak)
    logging.getLogger(root_logger.JAVA).error(leak)
    printed = capsys.readouterr().err
    assert not PLAIN.search(printed), printed
    assert printed.count("[hidden]") >= 5


def test_hiding_leaves_what_is_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(LogSettings(), WORDING, ["", "kafka"])
    text = "keystore password was incorrect; sasl.oauthbearer.token.endpoint.url = http://host:1/path"
    logging.getLogger(TOOL).error(text)
    assert capsys.readouterr().err.endswith(f"ERROR {text} ({TOOL})\n")


@pytest.mark.parametrize("password", ["kafka", "mirror", "error"])
def test_a_password_that_is_a_word_of_a_fixed_line_changes_only_fields(
    password: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root_logger.configure(at("INFO"), WORDING, [password])
    events.emit(events.SHUTDOWN_FINISHED)
    events.emit(
        events.SEND_FAILED, topic=f"my {password}", key_size=2, value_size=3, reason="?", code="MESSAGE_TOO_LARGE"
    )
    events.emit(events.REVOKED, stream=0, generation=1, partitions=password)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[2].partition(" ")[2] for line in lines if line.startswith("[")] == [
        f"INFO Kafka mirror maker shutdown successfully ({TOOL})",
        "ERROR Error when sending message to topic my [hidden] with key: 2, value: 3 with error: "
        f"({WORDING[events.SEND_FAILED].logger})",
        "INFO Stream 0, generation 1: revoked [hidden] (legacy_mm)",
    ]
    assert lines[2].startswith("org.apache.kafka.common.errors.RecordTooLargeException: The request included a message")


def test_tracebacks_are_for_debug_logging_only(capsys: pytest.CaptureFixture[str]) -> None:
    for level, expected in (("WARN", False), ("DEBUG", True)):
        root_logger.configure(at(level), WORDING)
        try:
            raise ValueError("x")
        except ValueError as error:
            events.emit(events.STREAM_FAILED, error=error, stream=0, reason="x")
        assert ("Traceback" in capsys.readouterr().err) is expected


def test_what_python_would_print_becomes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(LogSettings(), WORDING, ["geheim"])
    root_logger.catch_strays()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        root_logger.catch_strays()
        warnings.warn("geheim is old", DeprecationWarning, stacklevel=1)

    def fail() -> None:
        raise ValueError("geheim")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    lines = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "WARN DeprecationWarning: [hidden] is old (legacy_mm)",
        "WARN Uncaught ValueError: [hidden] (legacy_mm)",
    ]


def test_py4j_speaks_through_the_root_logger_and_is_not_heard(capsys: pytest.CaptureFixture[str]) -> None:
    root_logger.configure(at("TRACE"), WORDING)
    for folder in ("py4j", "legacy_mm"):
        path = f"/site-packages/{folder}/java_gateway.py"
        logging.getLogger().handle(logging.LogRecord("root", logging.ERROR, path, 1, f"from {folder}", (), None))
    logging.getLogger("py4j.clientserver").debug("Command to send: a password")
    printed = capsys.readouterr().err
    assert "from legacy_mm" in printed
    assert "from py4j" not in printed
    assert "Command" not in printed

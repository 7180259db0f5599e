"""The user's Java classes in the driver's JVM, really loaded: what is refused, when, and in which words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from legacy_mm.clock import Deadline
from legacy_mm.config.settings import HandlerSettings, JvmSettings, ListenerSettings
from legacy_mm.errors import ConfigurationError, HandlerFailure
from legacy_mm.flow.plugins import make_listener, ready_handler
from legacy_mm.jvm.gateway import Jvm
from legacy_mm.model import TopicPartition

pytestmark = pytest.mark.spark
SOME = frozenset({TopicPartition("t", 0)})


@pytest.fixture(scope="module")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jvm]:
    variables = {
        "SPARK_CONF_DIR": str(tmp_path_factory.mktemp("conf")),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
    }
    made = Jvm(JvmSettings(), variables)
    yield made
    made.stop(Deadline.after(10))


@pytest.fixture(scope="module")
def jars(handler_jars: dict[str, Path]) -> tuple[str, ...]:
    return tuple(map(str, handler_jars.values()))


@pytest.mark.parametrize(
    ("name", "argument", "told"),
    [
        ("no.such.Handler", None, "java.lang.ClassNotFoundException: no.such.Handler"),
        ("", None, "java.lang.ClassNotFoundException: "),
        ("handlers.Rename", None, "java.lang.NoSuchMethodException: handlers.Rename.<init>()"),
        ("handlers.FanOut", "x", "java.lang.NoSuchMethodException: handlers.FanOut.<init>(java.lang.String)"),
        ("Odd", None, "java.lang.NoSuchMethodException: Odd.<init>()"),
        ("LoggingListener", "x", "java.lang.ClassCastException: class LoggingListener cannot be cast to class kafka"),
    ],
    ids=["missing", "empty name", "no constructor", "no constructor with args", "not public", "wrong type"],
)
def test_handlers_that_cannot_be_made(
    jvm: Jvm, jars: tuple[str, ...], name: str, argument: str | None, told: str
) -> None:
    """Contract 5.4. Difference: handler-checked-at-start."""
    with pytest.raises(HandlerFailure) as refused:
        ready_handler(HandlerSettings(name, argument, (), jars), lambda: jvm)
    assert str(refused.value).startswith(told)
    assert refused.value.exit_code == 255


def test_no_code_of_a_handler_runs_in_the_driver(jvm: Jvm, jars: tuple[str, ...]) -> None:
    """A second object beside the copy task's could hold a file or port that this one needs."""
    asked = HandlerSettings("Odd", "throw", (), jars)
    assert ready_handler(asked, lambda: jvm).name == "Odd", "its constructor throws"


@pytest.mark.parametrize(
    ("name", "argument", "told"),
    [
        ("no.such.Listener", None, "java.lang.ClassNotFoundException: no.such.Listener"),
        ("LoggingListener", None, "java.lang.NoSuchMethodException: LoggingListener.<init>()"),
        (
            "LoggingListener",
            "/no/such/file",
            "java.io.FileNotFoundException: /no/such/file (No such file or directory)",
        ),
    ],
    ids=["missing", "no constructor", "constructor throws"],
)
def test_listeners_that_cannot_be_made(
    jvm: Jvm, jars: tuple[str, ...], name: str, argument: str | None, told: str
) -> None:
    """Contract 5.4."""
    with pytest.raises(ConfigurationError) as refused:
        make_listener(ListenerSettings(name, argument, jars), lambda: jvm)
    assert (str(refused.value), refused.value.exit_code) == (told, 1)


def test_a_listener_of_another_type_is_noticed_when_it_is_called(jvm: Jvm, jars: tuple[str, ...]) -> None:
    """Contract 5.4."""
    made = make_listener(ListenerSettings("handlers.FanOut", None, jars), lambda: jvm)
    with pytest.raises(HandlerFailure, match=r"ClassCastException: class handlers\.FanOut cannot be cast") as failure:
        made.assigned(SOME)
    assert failure.value.exit_code == 255


def test_what_a_listener_throws_ends_the_stream(jvm: Jvm, jars: tuple[str, ...], tmp_path: Path) -> None:
    """Contract 3.7."""
    folder = tmp_path / "here"
    folder.mkdir()
    made = make_listener(ListenerSettings("LoggingListener", str(folder / "log"), jars), lambda: jvm)
    made.assigned(SOME)
    assert (folder / "log").read_text() == "made\nassigned [t-0]\n"
    shutil.rmtree(folder)
    with pytest.raises(HandlerFailure, match=r"listener failed: java\.io\.FileNotFoundException") as failure:
        made.revoked(SOME)
    assert failure.value.exit_code == 255

"""From what the user wrote to a handler, and how each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.handlers.batches import BatchHandler
from legacy_mm.handlers.loader import check_handler, is_python, load_handler, load_listener
from legacy_mm.handlers.single_records import Answers, handle_records

RECORD = Record("t", 1, 2, 1, 3, b"k", b"v", (("h", None),))
SCRIPT = """
from legacy_mm.handlers.api import MessageHandler, RebalanceListener

class Named(MessageHandler):
    def __init__(self, args="none"):
        self.args = args
    def handle(self, record):
        return [record.to(self.args)]

class Strict(MessageHandler):
    def __init__(self, args):
        pass
    def handle(self, record):
        return []

class Throws(MessageHandler):
    def __init__(self):
        raise OSError("no disk")
    def handle(self, record):
        return []

class Plain:
    pass

class Told(RebalanceListener):
    def assigned(self, partitions):
        pass
    def revoked(self, partitions):
        pass
"""


def no_java(settings: HandlerSettings) -> BatchHandler:
    raise AssertionError(f"{settings.name} is no Java class")


def handled(name: str, argument: str | None = None, **settings: object) -> Answers:
    made = load_handler(HandlerSettings(name, argument, **settings), no_java)  # type: ignore[arg-type]
    return handle_records(made, [RECORD])


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "several.py").write_text(SCRIPT)
    return f"{tmp_path}/several.py"


def test_a_class_in_a_script(script: str) -> None:
    expected = TargetRecord("none", b"k", b"v", (("h", None),), None, 3)
    assert handled(f"{script}:Named") == Answers([expected], [1])
    assert handled(f"{script}:Named", "x y").targets[0][0] == "x y"
    assert handled(f"{script}:Named", "").targets[0][0] == ""


def test_a_function_in_a_script(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("def handle(record):\n    return [record.to('a'), record.to('b')]\n")
    assert [target[0] for target in handled(str(path)).targets] == ["a", "b"]


def test_modules_and_dotted_names(tmp_path: Path) -> None:
    built_in = "legacy_mm.handlers.built_in"
    for name in (f"{built_in}:RenameTopic", f"{built_in}.RenameTopic"):
        assert is_python(name)
        assert handled(name, "x-").targets[0][0] == "x-t"
    (tmp_path / "of_mine_7.py").write_text(SCRIPT)
    folder = [str(tmp_path)]
    assert handled("of_mine_7:Named", class_path=folder).targets[0][0] == "none"
    assert is_python("of_mine_7.Named", folder)
    assert handled("of_mine_7.Named", class_path=folder).targets[0][0] == "none"


@pytest.mark.parametrize("name", ["Rename", "com.example.Rename", "com.example.Outer$Inner", ""])
def test_java_classes(name: str) -> None:
    assert not is_python(name)


@pytest.mark.parametrize("name", ["kafka.consumer.MyHandler", "test.MyHandler", "code.H", "kafka.MyHandler"])
def test_java_packages_may_have_names_of_python_modules(name: str) -> None:
    assert not is_python(name)


def test_a_module_that_cannot_be_imported_is_python_s(tmp_path: Path) -> None:
    (tmp_path / "of_mine_9.py").write_text("raise RuntimeError('broken')\n")
    assert is_python("of_mine_9.Named", [str(tmp_path)])
    with pytest.raises(HandlerFailure, match=r"of_mine_9\.Named cannot be loaded: RuntimeError: broken"):
        handled("of_mine_9.Named", class_path=[str(tmp_path)])


def test_a_folder_of_java_classes_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "some_java").mkdir()
    assert not is_python("some_java.Rename", [str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "argument", "told"),
    [
        (":Missing", None, "cannot be loaded: AttributeError"),
        (":Plain", None, "is no MessageHandler"),
        (":Told", None, "is no MessageHandler"),
        (":Strict", None, "no constructor that takes no argument"),
        (":Throws", "x", "no constructor that takes one argument"),
        ("", None, "defines 3 MessageHandler classes: name one"),
    ],
)
def test_what_cannot_be_made_is_refused_without_running_it(
    script: str, name: str, argument: str | None, told: str
) -> None:
    with pytest.raises(HandlerFailure, match=told) as refused:
        check_handler(HandlerSettings(script + name, argument))
    assert refused.value.exit_code == 255


def test_a_constructor_that_raises(script: str) -> None:
    check_handler(HandlerSettings(f"{script}:Throws"))
    with pytest.raises(HandlerFailure, match="cannot be made: OSError: no disk"):
        handled(f"{script}:Throws")


def test_a_script_that_is_not_there() -> None:
    with pytest.raises(HandlerFailure, match="cannot be loaded: FileNotFoundError"):
        check_handler(HandlerSettings("/no/such.py"))


def test_listeners(script: str) -> None:
    load_listener(f"{script}:Told", None).assigned(frozenset())
    with pytest.raises(HandlerFailure, match="is no RebalanceListener"):
        load_listener(f"{script}:Named", None)


@pytest.mark.parametrize(
    ("answer", "told"),
    [("None", "TypeError"), ("['x']", "answered str, not TargetRecord"), ("1 / 0", "ZeroDivisionError")],
)
def test_bad_answers_end_the_batch_before_their_record(tmp_path: Path, answer: str, told: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(f"def handle(record):\n    return {answer} if record.offset == 7 else [record.to('a')]\n")
    made = load_handler(HandlerSettings(str(path)), no_java)
    outcome = handle_records(made, [RECORD._replace(offset=number) for number in (5, 6, 7, 8)])
    assert (len(outcome.targets), outcome.ends) == (2, [1, 2])
    assert outcome.error is not None
    assert told in outcome.error


@pytest.mark.parametrize(("words", "code"), [("", 0), ("None", 0), ("3", 3), ("'why'", 1)])
def test_a_script_that_exits_ends_the_batch_before_its_record(tmp_path: Path, words: str, code: int) -> None:
    path = tmp_path / "exits.py"
    path.write_text(
        f"import sys\ndef handle(record):\n    return [record.to('a')] if record.offset < 7 else sys.exit({words})\n"
    )
    made = load_handler(HandlerSettings(str(path)), no_java)
    outcome = handle_records(made, [RECORD._replace(offset=number) for number in (5, 6, 7, 8)])
    assert (len(outcome.targets), outcome.ends, outcome.error, outcome.exit_code) == (2, [1, 2], None, code)

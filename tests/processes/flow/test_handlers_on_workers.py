"""A handler's code travels: what a worker's task finds in the archive is enough, with nothing else on its path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.flow.plugins import on_workers, shipment
from legacy_mm.runtime.jvm.java_classes import HANDLER, with_interface
from legacy_mm.runtime.jvm.java_home import pyspark_jars
from legacy_mm.runtime.spark import shipping
from legacy_mm.runtime.spark.shipping import UNPACKED, build_archive

SCRIPT = """
import helper

def handle(record):
    return [record.to(helper.PREFIX + record.topic)]
"""
TASK = """
import json, sys
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers.java_batches import JavaBatches
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import handle_records
from legacy_mm.runtime.jvm.java_home import compiler_jars, find_java

def java(of):
    return JavaBatches(of, find_java(), compiler_jars())

handler = load_handler(HandlerSettings(**json.loads(sys.argv[1])), java)
handled = handle_records(handler, [("t", 0, 0, 1, 1, b"k", b"v", ())])
print(json.dumps([handled.error, *(target[0] for target in handled.targets)]))
"""


@pytest.fixture
def helped(tmp_path: Path) -> HandlerSettings:
    """A script that wants a module out of a folder, in which there is more."""
    code = tmp_path / "code"
    (code / "deep").mkdir(parents=True)
    (code / "helper.py").write_text("PREFIX = 'copy-'\n")
    (code / "deep" / "Some.class").touch()
    (code / "producer.properties").write_text("password=hush\n")
    (tmp_path / "some.jar").touch()
    (tmp_path / "script.py").write_text(SCRIPT)
    paths = (tmp_path / "some.jar", code, tmp_path / "gone")
    return HandlerSettings(f"{tmp_path}/script.py:handle", class_path=tuple(map(str, paths)))


def handled_by(settings: HandlerSettings, folder: Path) -> list[str | None]:
    """What a task makes of a record of the topic t."""
    works, code = shipment(settings)
    folder.mkdir()
    with zipfile.ZipFile(build_archive(folder, ["copy", *works], code)) as archive:
        archive.extractall(folder / UNPACKED)
    environment = {**os.environ, "PYTHONPATH": UNPACKED, "SPARK_HOME": str(Path(pyspark_jars()).parents[1])}
    command = [sys.executable, "-S", "-c", TASK, json.dumps(asdict(on_workers(settings)))]
    told = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    answer: list[str | None] = json.loads(told)
    return answer


def test_a_script_and_its_modules(helped: HandlerSettings, tmp_path: Path) -> None:
    assert handled_by(helped, tmp_path / "worker") == [None, "copy-t"]


@pytest.mark.slow
def test_a_java_class_and_what_runs_it(handler_jars: dict[str, Path], tmp_path: Path) -> None:
    """Kafka's interface comes from where the driver has it."""
    class_path = with_interface((str(handler_jars["Rename"]),), HANDLER)
    settings = HandlerSettings("handlers.Rename", "copy-", class_path=class_path)
    assert handled_by(settings, tmp_path / "worker") == [None, "copy-t"]


def test_only_code_travels(helped: HandlerSettings, tmp_path: Path) -> None:
    """A folder on a class path often has client files, with their passwords."""
    _, code = shipment(helped)
    names = zipfile.ZipFile(build_archive(tmp_path, ["copy"], code)).namelist()
    assert [name for name in names if name.startswith("handler/")] == [
        "handler/1/code/deep/Some.class",
        "handler/1/code/helper.py",
        "handler/script.py",
    ]


def test_built_in_steps_need_nothing() -> None:
    steps = HandlerSettings(steps=("keep.partition",), class_path=("/",))
    assert shipment(steps) == ([], {})


def test_jpype_is_missed_before_a_task_misses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(shipping, "distribution", missing)
    with pytest.raises(HostError, match="jpype1 is not installed"):
        build_archive(tmp_path, ["java"])

"""The workflow files: what they run is there, and the matrix is what setup.cfg allows."""

from __future__ import annotations

import configparser
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.structure.source_tree import CHECKOUT

FOLDER = CHECKOUT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yaml"))
OF_THE_RUNNER = {"docker", "sudo", "python", ".venv/bin/pip"}


def load(path: Path) -> Any:
    """YAML takes the word `on` for true."""
    found = yaml.safe_load(path.read_text())
    return {("on" if key is True else key): value for key, value in found.items()}


def steps(path: Path) -> Iterator[dict[str, Any]]:
    """All steps of all jobs."""
    for job in load(path)["jobs"].values():
        yield from job["steps"]


def commands(path: Path) -> Iterator[list[str]]:
    """The words of each command."""
    for step in steps(path):
        for line in step.get("run", "").splitlines():
            words = shlex.split(line, comments=True)
            while words:
                end = words.index("&&") if "&&" in words else len(words)
                yield words[:end]
                words = words[end + 1 :]


def setup() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(CHECKOUT / "setup.cfg")
    return parser


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_all_its_parts(path: Path) -> None:
    workflow = load(path)
    assert {"name", "on", "permissions", "jobs"} <= set(workflow)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job)
        assert job["steps"][0]["uses"].startswith("actions/checkout@")
    for step in steps(path):
        assert ("uses" in step) != ("run" in step)
        assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/checkout@v1"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_what_there_is(path: Path) -> None:
    markers = {line.split(":")[0] for line in setup()["tool:pytest"]["markers"].split("\n") if line}
    extras = set(setup()["options.extras_require"])
    called = list(commands(path))
    assert called
    for words in called:
        program = words[0]
        assert program in OF_THE_RUNNER or ((CHECKOUT / program).is_file() and program.startswith("bin/"))
        if program == "bin/test" and "-m" in words:
            assert words[words.index("-m") + 1] in markers
        for file in words[words.index("-f") + 1 : words.index("-f") + 2] if "-f" in words else []:
            assert (CHECKOUT / file).is_file()
        for extra in re.findall(r"^\.\[(\w+)\]$", "\n".join(words), re.MULTILINE):
            assert extra in extras


def test_services_that_are_spoken_to_are_in_the_compose_file() -> None:
    services = yaml.safe_load((CHECKOUT / "samples/deploy/compose.yaml").read_text())["services"]
    spoken_to = {words[words.index("-T") + 1] for words in commands(FOLDER / "test.yaml") if "-T" in words}
    assert spoken_to == {"source", "target"}
    assert spoken_to <= set(services)


def test_the_matrix_is_what_we_promise() -> None:
    """Python from the oldest that setup.cfg takes, on both machines."""
    matrix = load(FOLDER / "test.yaml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert setup()["options"]["python_requires"] == f">={matrix['python'][0]}"
    assert {machine["name"] for machine in matrix["machine"]} == {"x86_64", "aarch64"}


def test_each_python_and_platform_gets_its_wheel() -> None:
    matrix = load(FOLDER / "package.yaml")["jobs"]["wheels"]["strategy"]["matrix"]
    assert matrix["python"] == load(FOLDER / "test.yaml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    backend = (CHECKOUT / "compat/packaging/build_backend.py").read_text()
    known = re.findall(r'^    "(\w+linux_\w+)":', backend, re.MULTILINE)
    assert [platform["name"] for platform in matrix["platform"]] == known
    assert len(known) == 4

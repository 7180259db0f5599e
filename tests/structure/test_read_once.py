"""A flag, a property of a client and a variable of the environment are looked up in one module; others take a field."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from legacy_mm.features.rows import BY_NAME
from tests.structure.layer_rules import CLIENT_PROPERTIES, ORACLE, looked_up, under
from tests.structure.source_tree import Module, checkout_modules, modules

VARIABLE = re.compile("[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|PATH|HOME")

# Name -> why it is looked up in several modules.
SEVERAL = {
    "JAVA_HOME": "the start script's, and this process's where a command has no settings",
    "PATH": "of the line that is explained, and of this process",
    "SPARK_HOME": "a session sets it and puts it back; a task, which has no session, finds its compiler by it",
    "KAFKA_LOG4J_OPTS": "words of Java, and whether the start script would have named its own file",
    "bootstrap.servers": "the file of the ZooKeeper consumer, and MirrorMaker 2's file before its flows are read",
    "client.id": "the file of the ZooKeeper consumer, and the name that a producer has without it",
    "group.id": "the file of the ZooKeeper consumer, and the row of `explain` that shows the group",
    "emit.heartbeats.enabled": "MirrorMaker 2's driver asks before it makes a flow",
    "mm2.compatibility": "MirrorMaker 2's file says it for all flows",
    "source.cluster.alias": "`legacy-mm checkpoints` takes it of a client's file",
    "use.defaults.from": "MirrorMaker 2 takes any other word for the target",
}


def is_setting(name: str) -> bool:
    """Whether a user gives it. Flags of one word, such as topics, are keys of other things too."""
    return (name in BY_NAME and "." in name) or name in CLIENT_PROPERTIES or VARIABLE.fullmatch(name) is not None


def readers(tree: dict[str, Module]) -> dict[str, set[str]]:
    """Name of what users give -> the modules that look it up."""
    found: dict[str, set[str]] = {}
    for module in tree.values():
        if under(module.name, ORACLE):
            continue
        for name, _ in looked_up(module, ast.Load):
            if is_setting(name):
                found.setdefault(name, set()).add(module.name)
    return found


def test_each_is_looked_up_in_one_module() -> None:
    several = {name: sorted(where) for name, where in readers(checkout_modules("legacy_mm")).items() if len(where) > 1}
    assert several.keys() == SEVERAL.keys(), several


def test_a_second_reader_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "legacy_mm"
    folder.mkdir()
    texts = {
        "a": 'x = values["topic.creation"]\ny = given.get("linger.ms")\nvalues["detect.loops"] = True\n',
        "b": 'KEY = "topic.creation"\nx = values[KEY]\nz = environ.pop("KAFKA_OPTS")\n',
        "c": 'x = values["detect.loops"]\n',
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    assert readers(modules(tmp_path, "legacy_mm")) == {
        "topic.creation": {"legacy_mm.a", "legacy_mm.b"},
        "linger.ms": {"legacy_mm.a"},
        "KAFKA_OPTS": {"legacy_mm.b"},
        "detect.loops": {"legacy_mm.c"},
    }

"""Imports point down, one door per vendor package, no cycle. Each rule is also shown to fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.structure import layer_rules as rules
from tests.structure.source_tree import CHECKOUT, Module, checkout_modules, modules

Plant = Callable[[dict[str, str]], dict[str, Module]]


@pytest.fixture(scope="module")
def tree() -> dict[str, Module]:
    return checkout_modules()


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Writes a small bad package: path under legacy_mm -> text."""

    def write(files: dict[str, str]) -> dict[str, Module]:
        for name, text in files.items():
            path = tmp_path / (name if name.startswith("compat/laboratory") else f"legacy_mm/{name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return modules(tmp_path)

    return write


RULES = {
    "layers": rules.layer_violations,
    "rooms and arrows": rules.budget_violations,
    "doors": rules.door_violations,
    "cycles": rules.cycle,
    "inner __init__": rules.init_violations,
    "exits": rules.exit_violations,
    "time": rules.time_violations,
    "client properties": rules.property_violations,
    "secrets": rules.secret_violations,
    "names": rules.name_violations,
    "a rule a package": rules.rule_violations,
    "one name, one thing": rules.twice_violations,
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_the_package_keeps_the_rule(rule: Callable[[dict[str, Module]], list[str]], tree: dict[str, Module]) -> None:
    assert not (found := rule(tree)), "\n".join(found)


def test_the_picture_in_the_architecture_is_true(tree: dict[str, Module]) -> None:
    arrows = rules.arrows(tree)
    ends = {end for pair in arrows for end in pair}
    words = f"{len(ends)} packages and modules with {len(arrows)} arrows between them, none up"
    assert words in (CHECKOUT / "ARCHITECTURE.md").read_text()


def test_the_package_is_there(tree: dict[str, Module]) -> None:
    assert "legacy_mm.base.errors" in tree


# (file, its text, a second file that is imported, words of the violation)
FORBIDDEN_IMPORTS = [
    ("clients/a.py", "from legacy_mm.controlplane import b", "controlplane/b.py", "above layer 2"),
    ("clients/a.py", "from ..controlplane.b import f", "controlplane/b.py", "above layer 2"),
    ("clients/a.py", "def f():\n    import legacy_mm.assembly.wiring", "assembly/wiring.py", "above layer 2"),
    ("base/model.py", "if TYPE_CHECKING:\n    import legacy_mm.runtime.b", "runtime/b.py", "above layer 0"),
    ("clients/a.py", "import_module('legacy_mm.assembly.wiring')", "assembly/wiring.py", "above layer 2"),
    ("controlplane/a.py", "from legacy_mm.dataplane.b import f", "dataplane/b.py", "siblings"),
    ("clients/a.py", "from legacy_mm.handlers.b import f", "handlers/b.py", "siblings"),
    ("clients/a.py", "from legacy_mm.runtime.b import f", "runtime/b.py", "above layer 2"),
    ("dataplane/a.py", "from legacy_mm.transactions.b import f", "transactions/b.py", "above layer 4"),
    ("flow/a.py", "from legacy_mm.transactions.b import f", "transactions/b.py", "above layer 5"),
    ("audit/a.py", "from legacy_mm.clients.b import f", "clients/b.py", "an oracle"),
    ("audit/a.py", "from legacy_mm.base.model import f", "base/model.py", "an oracle"),
    ("compat/laboratory/a.py", "from legacy_mm.clients.b import f", "clients/b.py", "an oracle"),
    ("compat/laboratory/a.py", "from legacy_mm.runtime.jvm import b", "runtime/jvm/b.py", "an oracle"),
    ("compat/laboratory/a.py", "from legacy_mm.words.b import f", "words/b.py", "an oracle"),
    ("audit/a.py", "from compat.laboratory.b import f", "compat/laboratory/b.py", "not in the wheel"),
    ("cli/a.py", "from compat.laboratory.b import f", "compat/laboratory/b.py", "not in the wheel"),
    ("assembly/a.py", "from legacy_mm.words.b import f", "words/b.py", "no word of a user"),
    ("words/a.py", "from legacy_mm.cli.b import f", "cli/b.py", "above layer 7"),
    ("words/a.py", "from legacy_mm.explain.b import f", "explain/b.py", "above layer 7"),
    ("flow/a.py", "from legacy_mm.client.b import f", "client/b.py", "it is for users"),
]


@pytest.mark.parametrize(("file", "text", "target", "words"), FORBIDDEN_IMPORTS)
def test_a_forbidden_import_is_found(plant: Plant, file: str, text: str, target: str, words: str) -> None:
    (found,) = rules.layer_violations(plant({file: text, target: "f = 1"}))
    assert words in found


ALLOWED_IMPORTS = [
    ("clients/a.py", "from legacy_mm.clients.b import f", "clients/b.py"),
    ("controlplane/a.py", "from legacy_mm.clients import b", "clients/b.py"),
    ("base/errors.py", "from legacy_mm.base.model import f", "base/model.py"),
    ("assembly/a.py", "from legacy_mm.flow.mirror import f", "flow/mirror.py"),
    ("compat/laboratory/a.py", "from legacy_mm.runtime.jvm.java_home import find_java", "runtime/jvm/java_home.py"),
    ("compat/laboratory/a.py", "from legacy_mm.audit.b import f", "audit/b.py"),
    ("cli/a.py", "from legacy_mm.words.b import f", "words/b.py"),
    ("explain/a.py", "from legacy_mm.words.b import f", "words/b.py"),
    ("client/a.py", "from legacy_mm.words.b import f", "words/b.py"),
    ("cli/a.py", "from legacy_mm.client.b import f", "client/b.py"),
    ("__main__.py", "from legacy_mm.cli.b import f", "cli/b.py"),
    ("cli/a.py", "from legacy_mm.audit.b import f", "audit/b.py"),
]


@pytest.mark.parametrize(("file", "text", "target"), ALLOWED_IMPORTS)
def test_an_allowed_import_passes(plant: Plant, file: str, text: str, target: str) -> None:
    assert rules.layer_violations(plant({file: text, target: "f = 1"})) == []


def test_more_rooms_and_arrows_than_a_package_may_have_are_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST", {"legacy_mm": (2, 1), "legacy_mm.clients": (1, 1)})
    tree = plant({"clients/a/x.py": "import legacy_mm.clients.b.y", "clients/b/y.py": "", "flow/a.py": "x = 1"})
    assert rules.budget_violations(tree) == ["legacy_mm.clients has 2 rooms and 1 arrows: 1, 1"]


def test_rooms_that_import_each_other_are_found(plant: Plant) -> None:
    """Though no module does."""
    tree = plant(
        {
            "clients/a/x.py": "import legacy_mm.clients.b.y",
            "clients/b/y.py": "",
            "clients/b/z.py": "import legacy_mm.clients.a.w",
            "clients/a/w.py": "",
        }
    )
    (found,) = rules.budget_violations(tree)
    assert found.startswith("legacy_mm.clients: ")


def test_a_package_without_a_layer_is_found(plant: Plant) -> None:
    assert "no layer" in rules.layer_violations(plant({"extras/a.py": ""}))[0]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("runtime/spark/a.py", "import confluent_kafka"),
        ("dataplane/a.py", "from pyspark.sql import SparkSession"),
        ("dataplane/a.py", "def f():\n    from py4j import java_gateway"),
        ("runtime/channel/a.py", "import pyspark"),
        ("words/a.py", "import configargparse"),
        ("words/java_clients/jaas.py", "import jproperties"),
        ("clients/a.py", "from cryptography import x509"),
        ("clients/librdkafka/a.py", "import kafka"),
        ("compat/laboratory/a.py", "import psutil"),
        ("audit/a.py", "import_module('testcontainers.kafka')"),
        ("clients/a.py", "import cython"),
    ],
)
def test_a_vendor_package_outside_its_door_is_found(plant: Plant, file: str, text: str) -> None:
    (found,) = rules.door_violations(plant({file: text}))
    assert "its door is" in found


def test_a_vendor_package_inside_its_door_passes(plant: Plant) -> None:
    tree = plant({"clients/librdkafka/a.py": "import confluent_kafka, socket", "runtime/jvm/a.py": "import py4j"})
    assert rules.door_violations(tree) == []


def test_a_cycle_through_a_function_is_found(plant: Plant) -> None:
    tree = plant(
        {
            "clients/a.py": "from legacy_mm.clients import b",
            "clients/b.py": "from .c import f",
            "clients/c.py": "def f():\n    from . import a",
        }
    )
    assert set(rules.cycle(tree)) == {
        "legacy_mm.clients.a",
        "legacy_mm.clients.b",
        "legacy_mm.clients.c",
    }


@pytest.mark.parametrize("text", ["", "import os", '"""Doc."""\nfrom .a import f', "X = 1"])
def test_an_inner_init_with_more_or_less_than_a_docstring_is_found(plant: Plant, text: str) -> None:
    assert len(rules.init_violations(plant({"clients/__init__.py": text}))) == 1


DOC = '"""Doc."""\n'
NAMES = "from legacy_mm.client.a import f\n"
ALL = '__all__ = ["f"]\n'


@pytest.mark.parametrize("text", [NAMES + ALL, DOC + NAMES, DOC + ALL + "X = 1", DOC + ALL + "def g(): pass"])
def test_an_init_for_users_with_more_or_less_than_names_is_found(plant: Plant, text: str) -> None:
    assert len(rules.init_violations(plant({"client/__init__.py": text}))) == 1
    assert rules.init_violations(plant({"client/__init__.py": DOC + NAMES + ALL})) == []


def test_an_init_of_the_root_that_imports_is_found(plant: Plant) -> None:
    assert len(rules.init_violations(plant({"__init__.py": "import os"}))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.exit(1)",
        "import os as o\no._exit(1)",
        "from sys import exit as leave\nleave()",
        "raise SystemExit(1)",
        "quit()",
    ],
)
def test_an_exit_outside_the_listed_places_is_found(plant: Plant, text: str) -> None:
    assert len(rules.exit_violations(plant({"clients/a.py": text}))) == 1
    assert rules.exit_violations(plant({"clients/a.py": "", "cli/a.py": text})) == []


@pytest.mark.parametrize("text", ["import time", "from time import monotonic", "import time as t"])
def test_time_outside_the_clock_is_found(plant: Plant, text: str) -> None:
    assert len(rules.time_violations(plant({"clients/a.py": text}))) == 1
    assert rules.time_violations(plant({"clients/a.py": "", "base/clock.py": text})) == []


@pytest.mark.parametrize(
    "text",
    [
        "x = properties.get('socket.timeout.ms', 60_000)",
        "x = settings['acks.all'] or given['sasl.password']",
        "def f(target): return target.pop('isolation.level')",
        "_NAME = 'client.id'\n\ndef f(target): return target[_NAME]",
    ],
)
def test_a_client_property_by_its_name_is_found(plant: Plant, text: str) -> None:
    assert len(rules.property_violations(plant({"flow/a.py": text}))) == 1
    assert rules.property_violations(plant({"flow/a.py": "", "words/a.py": text})) == []


def test_settings_that_are_made_elsewhere_are_found(plant: Plant) -> None:
    text = "from legacy_mm.base import kafka_clients\nx = kafka_clients.consumer_of({})"
    assert len(rules.property_violations(plant({"flow/a.py": text}))) == 1
    assert rules.property_violations(plant({"flow/a.py": "", "words/a.py": text})) == []


def test_a_secret_that_is_revealed_is_found(plant: Plant) -> None:
    text = "def f(login): print(login.password.reveal())"
    assert len(rules.secret_violations(plant({"cli/a.py": text}))) == 1
    assert rules.secret_violations(plant({"cli/a.py": "", "clients/a.py": text})) == []


def test_a_name_that_says_nothing_is_found(plant: Plant) -> None:
    tree = plant({"clients/utils.py": "", "words/java_clients/client_properties/common.py": ""})
    assert rules.name_violations(tree) == ["legacy_mm.clients.utils: name it after what it holds"]


def test_a_name_that_two_things_have_is_found(plant: Plant) -> None:
    text = "class Answer: pass\nclass _Private: pass\nSay = Callable[[str], None]\nSIZE = 1 << 20"
    tree = plant(
        {
            "clients/a.py": text,
            "flow/a.py": text,
            "cli/a.py": text,
            "clients/group/member.py": "",
            "handlers/api.py": "",
        }
    )
    assert rules.twice_violations(tree) == [
        "class Answer is in legacy_mm.clients.a, legacy_mm.flow.a",
        "class Say is in legacy_mm.clients.a, legacy_mm.flow.a",
        "module a is legacy_mm.clients.a, legacy_mm.flow.a",
    ]


def test_a_package_without_a_rule_is_found(plant: Plant) -> None:
    tree = plant({"clients/__init__.py": DOC, "flow/__init__.py": '"""Doc. Rule: none."""', "client/__init__.py": DOC})
    assert rules.rule_violations(tree) == ["legacy_mm.clients: its docstring names no rule (Rule: ...)"]

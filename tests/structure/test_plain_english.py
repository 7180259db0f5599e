"""Docstrings begin with a verb, none with a relative word; phrases that were translated do not come back."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT, Module, checkout_modules, modules

WORDS = """
Abbreviate Accept Acknowledge Add Adopt Alter Answer Apply Ask Assemble Assign Begin Bind Block Build Call Change
Check Choose Close Combine Commit Compare Compile Compress Compute Configure Connect Continue Convert Copy Count
Create Cut Decode Decompress Delete Deliver Describe Discard Disconnect Do Draw Drop Emit Empty Encode End Ensure Exit
Expand Expect Explain Extend Fetch Fill Find Finish Flush Forbid Forget Format Generate Get Give Group Handle Hide Hold
Ignore Install Invoke Join Judge Keep Kill Leave Let Limit Listen Load Log Look Lose Make Mark Match Measure Mirror Move
Name Note Open Order Parse Partition Pass Perform Place Plan Prepare Print Process Publish Purge Put Queue Raise
Read Reap Receive Record Recreate Reduce Refuse Regroup Release Remove Rename Replace Report Require Reserve Reset
Restart Restore Resume Retry Return Rewrite Route Run Say Select Send Serve Set Show Shut Signal Sort Split Start
Stop Suppress Suspend Take Tell Throw Translate Trim Try Use Wait Wake Walk Warn Watch Wrap Write Yield
"""
VERBS = frozenset(re.findall(r"\w+", WORDS))
"""The imperatives in use. Add a verb that is missing."""
RELATIVE = {"What", "Whether", "Where", "How", "As", "Of", "Those", "Who", "Whoever", "Whose", "That", "Which", "So"}
RELATIVE |= {"For", "Because", "Said", "Its"}
PHRASES = {
    r"\bKafka's tool\b": "the legacy tool",
    r"\bhow manieth\b": "leader epoch",
    r"\bin their own way\b": "say how",
    r"\b(is|are) passed over\b": "is ignored",
    r"\bold\s+tool\b": "the legacy tool",
    r"\bin its own way\b": "say how",
    r"\bwho is closed\b": "say what is closed",
    r"\bnobody leads\b": "has no leader",
}
NAMES = "vertx,unsecure"
"""Words that codespell takes for others: a jar, and a value of Kafka's."""
SPELLING_FAULTS = 65
PAGES = (*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md"))


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Yield line, text and whether it must begin with a verb, of docstrings and of strings below an assignment."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for place, statement in enumerate(body if isinstance(body, list) else ()):
            match statement:
                case ast.Expr(value=ast.Constant(value=str() as text)) if text.strip():
                    is_function = place == 0 and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                    yield statement.lineno, text.strip(), is_function and not _is_property(node)


def _is_property(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return bool({ast.unparse(each).split(".")[-1] for each in decorators} & {"property", "cached_property", "setter"})


def violations(tree: dict[str, Module]) -> list[str]:
    """Name each docstring that breaks a rule."""
    found = []
    for module in tree.values():
        for line, text, wants_verb in docstrings(module.tree):
            word = text.split()[0].rstrip(",:;")
            if word in RELATIVE or (wants_verb and word not in VERBS):
                found.append(f"{module.name}:{line} begins with {word!r}")
    return found


def test_docstrings_begin_with_a_verb() -> None:
    found = violations(checkout_modules())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_does_not_come_back(phrase: str) -> None:
    texts = {module.name: module.text for module in checkout_modules().values()}
    texts |= {page.name: page.read_text() for page in PAGES}
    assert [name for name, text in texts.items() if re.search(phrase, text)] == [], PHRASES[phrase]


def spelt(*places: Path | str) -> str:
    """What codespell finds in these files."""
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", NAMES, "--skip", "*.so,*.json"]
    done = subprocess.run([*command, *map(str, places)], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert done.returncode in (0, SPELLING_FAULTS), done.stderr
    return done.stdout


def test_words_are_spelt_as_others_spell_them() -> None:
    assert spelt("legacy_mm", "docs", "compat", "samples", "bin", *CHECKOUT.glob("*.md")) == ""


def test_a_misspelt_word_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("The brokers acknowlege it.\n")
    assert "acknowlege ==> acknowledge" in spelt(page)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('def f():\n    """What is left."""\n', 1),
        ('def f():\n    """Return what is left."""\n', 0),
        ('X = 1\n"""Whether it is."""\n', 1),
        ('class A:\n    @property\n    def f(self):\n        """The name."""\n', 0),
        ('class A:\n    def f(self):\n        """The name."""\n', 1),
    ],
)
def test_a_docstring_that_breaks_a_rule_is_found(tmp_path, text: str, count: int) -> None:
    folder = tmp_path / "legacy_mm" / "wire"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(text)
    assert len(violations(modules(tmp_path))) == count

"""Reads a package with ast: modules by name, and what each imports. Knows no rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = "legacy_mm"
OURS = (PACKAGE, "compat/laboratory")


@dataclass(frozen=True)
class Import:
    """One imported name, as an absolute dotted path, and the line it stands on."""

    name: str
    line: int


@dataclass(frozen=True)
class Module:
    """One source file and its dotted name."""

    name: str
    path: Path

    @property
    def is_init(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def is_inner_init(self) -> bool:
        return self.is_init and "." in self.name

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    def imports(self) -> Iterator[Import]:
        """Every import: also in functions, under TYPE_CHECKING, and `import_module("literal")`.

        `from a import b` is given as `a.b`, because b may be a module.
        """
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (Import(alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node)
                yield from (Import(f"{base}.{alias.name}", node.lineno) for alias in node.names)
            elif isinstance(node, ast.Call) and (name := _imported_by_call(node)):
                yield Import(name, node.lineno)

    def _base(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        folders = self.name.split(".")
        keep = len(folders) - node.level + self.is_init
        return ".".join([*folders[:keep], *filter(None, [node.module])])


def modules(root: Path, *packages: str) -> dict[str, Module]:
    """All modules of these packages in the folder `root`, by dotted name, or ours."""
    found = {}
    for path in (path for package in packages or OURS for path in sorted((root / package).rglob("*.py"))):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path)
    return found


@cache
def checkout_modules(*packages: str) -> dict[str, Module]:
    """The modules of this checkout, read and parsed once for all tests of a process."""
    return modules(CHECKOUT, *packages)


def own_imports(module: Module, tree: dict[str, Module]) -> Iterator[Import]:
    """The imports that stay inside our packages, each cut back to the module that it reaches."""
    for found in module.imports():
        if not found.name.startswith((PACKAGE, "compat.laboratory")):
            continue
        target = found.name
        while target not in tree and "." in target:
            target = target.rpartition(".")[0]
        yield Import(target, found.line)


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a module, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _imported_by_call(node: ast.Call) -> str | None:
    func = node.func
    called = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if called not in ("import_module", "__import__") or not node.args:
        return None
    first = node.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None

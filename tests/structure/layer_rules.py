"""The rules about imports, as rows, and the functions that apply them to a tree.

Each function returns sentences, one for each violation; none means that the tree keeps the rule.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator, Mapping

from legacy_mm.clients.librdkafka import property_texts
from tests.structure.source_tree import PACKAGE, Module, own_imports

LABORATORY = "compat.laboratory"
# First name under legacy_mm -> layer. A package imports only packages of layers below its own.
LAYERS = {
    "": 0,  # legacy_mm/__init__.py: the version
    "base": 0,
    "logs": 1, "protocol": 1, "policies": 1,
    "clients": 2, "handlers": 2, "metrics": 2,
    "runtime": 3,
    "controlplane": 4, "dataplane": 4, "features": 4,
    "flow": 5, "audit": 5,
    "transactions": 6,
    "assembly": 7, "words": 7,
    "explain": 8, "client": 8, "connect": 8,
    "cli": 9, "__main__": 10,
    LABORATORY: 11,
}  # fmt: skip
MOST = {"legacy_mm": (25, 120), "legacy_mm.clients": (8, 25)}
"""Package -> the most rooms in it, packages and modules, and the most arrows between them: imports of one by another.

Who needs one more takes another away; `docs/decisions/093-rooms-and-arrows.md` says why. Ten more came with `connect`.
"""

# Who alone may import a package, and why.
IMPORTED_BY: Mapping[str, tuple[set[str], str]] = {
    "words": ({"explain", "cli", "client", "connect"}, "the core knows no word of a user's files and lines"),
    "client": ({"cli", "__main__"}, "it is for users; nothing of ours but commands stands on it"),
    LABORATORY: (set(), "it is not in the wheel"),
}
ORACLE = ("legacy_mm.audit", LABORATORY)
"""Whose verdict must not rest on the code that it judges."""
JUDGES_WITH = (
    "legacy_mm.base.errors",
    "legacy_mm.base.clock",
    "legacy_mm.runtime.jvm.java_home",
    "legacy_mm.runtime.jvm.jars",
    *ORACLE,
)
"""What alone an oracle may import of ours."""
COMPARES_ON_SPARK = {"legacy_mm.audit.topic_comparison", "legacy_mm.audit.fingerprints", "legacy_mm.audit.connections"}
"""`legacy-mm verify` reads whole topics in Spark tasks, and so uses the product's own connections."""
# Packages whose __init__ names what users import from them, besides its docstring.
FOR_USERS = {"legacy_mm.client"}

OUR_SOCKETS = tuple(
    f"legacy_mm.clients.{each}" for each in ("net", "cluster", "fetch", "produce", "group", "admin", "topics")
)
# Third-party package -> the module prefixes that may import it. Packages without a row: nobody.
DOORS = {
    "confluent_kafka": ("legacy_mm.clients.librdkafka", *ORACLE),
    "kafka": (*OUR_SOCKETS, "legacy_mm.transactions.txn_protocol"),
    "gssapi": ("legacy_mm.clients.net.gssapi_login",),
    "pyspark": ("legacy_mm.runtime.spark", "legacy_mm.runtime.jvm.gateway"),
    "pyarrow": ("legacy_mm.runtime.spark.tables",),
    "py4j": ("legacy_mm.runtime.jvm", "legacy_mm.runtime.spark"),
    "configargparse": ("legacy_mm.cli",),
    "jproperties": ("legacy_mm.words.java_clients.properties_file",),
    "cryptography": ("legacy_mm.runtime.channel.certificate",),
    "prometheus_client": ("legacy_mm.metrics.prometheus",),
    "yaml": ("legacy_mm.words.legacy_tool.log4j_configuration", "legacy_mm.words.mirror_maker_2.strimzi_files"),
    "starlette": ("legacy_mm.connect.rest",),
    "uvicorn": ("legacy_mm.connect.rest.rest_server",),
    "jinja2": ("legacy_mm.connect.page",),
    "crc32c": ("legacy_mm.protocol",),
    "cramjam": ("legacy_mm.protocol",),
    "cython": ("legacy_mm.protocol.record_kernels",),
    "jpype": ("legacy_mm.handlers.java_batches",),
}

# Who may end the process, and why.
MAY_EXIT = {
    "legacy_mm.cli": "the place that turns errors into exit codes",
    "legacy_mm.__main__": "the entry of the old command, part of cli",
    "legacy_mm.flow.lifecycle": "os._exit when a membership thread does not come back by the deadline",
    "legacy_mm.assembly.copy_task": "a task that lost its channel must not flush",
    "legacy_mm.handlers.batches": "a script's own exit is caught there",
    "legacy_mm.runtime.spark.worker_daemon": "forked workers end without the parent's clean-up",
    "legacy_mm.audit.spawn": "a forked child whose parent died before it could be bound to it",
    "compat.laboratory.demo": "the entry of bin/demo",
    "compat.laboratory.bench": "the entry of bin/bench",
    "compat.laboratory.mutants": "the entry of bin/test mutants",
    "compat.laboratory.repeated_tests": "the entry of bin/test repeat",
}
EXITS = {"sys.exit", "os._exit", "os.abort", "exit", "quit", "SystemExit"}

# Who may ask for the time or sleep; all others are given a Clock or a Deadline.
MAY_USE_TIME = ("legacy_mm.base.clock", *ORACLE)

# Who may look up a client's property by its name, and why; all others read fields (`base/kafka_clients.py`).
MAY_READ_PROPERTIES = {
    "legacy_mm.words": "properties of clients are read there",
    "legacy_mm.explain": "it shows what each line of a file becomes",
    "legacy_mm.clients.librdkafka": "librdkafka knows nothing but names",
    "legacy_mm.cli.verify": "it reads one line of a Java consumer's file as it stands",
}
CLIENT_PROPERTIES = {row.name for row in property_texts.ROWS.values() if "." in row.name}
MAKES_SETTINGS = {f"legacy_mm.base.kafka_clients.{what}_of" for what in ("connection", "consumer", "producer")}
"""What makes settings of fields, in one place: `words`."""

# Who may ask a secret for its text, and why.
MAY_REVEAL = {
    "legacy_mm.base": "the table of names, and the secret itself",
    "legacy_mm.clients": "a client logs in",
    "legacy_mm.policies.logins": "librdkafka cuts blanks off passwords",
    "legacy_mm.runtime.channel.json_fields": "the task config brings credentials to a task",
    "legacy_mm.flow.key_stores": "the class of a login is asked for tokens",
}

NAMES_THAT_SAY_NOTHING = {"util", "utils", "helper", "helpers", "common", "misc"}
ALLOWED_NAMES = {"legacy_mm.words.java_clients.client_properties.common": "rows that all three clients share"}

Tree = Mapping[str, Module]


def group(name: str) -> str:
    """Return the first name under legacy_mm: `legacy_mm.flow.host` -> `flow`; or the laboratory."""
    return LABORATORY if under(name, (LABORATORY,)) else (name.split(".") + [""])[1]


def under(name: str, prefixes: tuple[str, ...] | Mapping[str, str]) -> bool:
    """Whether a module is one of `prefixes` or inside one."""
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def room(name: str, package: str = PACKAGE) -> str:
    """Return the first name under a package, of a module in it; empty for others, and for the package itself."""
    return name.removeprefix(f"{package}.").split(".")[0] if name.startswith(f"{package}.") else ""


def arrows(tree: Tree, package: str = PACKAGE) -> set[tuple[str, str]]:
    """Which packages and modules right under a package import which other ones."""
    pairs = {
        (room(module.name, package), room(target.name, package))
        for module in tree.values()
        for target in own_imports(module, dict(tree))
    }
    return {(one, other) for one, other in pairs if one != other and one and other}


def budget_violations(tree: Tree) -> list[str]:
    """Packages with more rooms or arrows than they may have, and rooms that import each other in a circle."""
    found = []
    for package, (most_rooms, most_arrows) in MOST.items():
        rooms = {room(name, package) for name in tree} - {""}
        between = arrows(tree, package)
        if len(rooms) > most_rooms or len(between) > most_arrows:
            found.append(f"{package} has {len(rooms)} rooms and {len(between)} arrows: {most_rooms}, {most_arrows}")
        graph = {one: {other for first, other in between if first == one} for one in rooms}
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            found.append(f"{package}: {' -> '.join(error.args[1])}")
    return found


def layer_violations(tree: Tree) -> list[str]:
    """Imports that do not point down, and packages that have no row."""
    unknown = sorted({group(name) for name in tree} - set(LAYERS))
    found = [f"legacy_mm/{name} has no layer: add a row to LAYERS" for name in unknown]
    for module in tree.values():
        for target in own_imports(module, dict(tree)):
            known = {group(module.name), group(target.name)} <= LAYERS.keys()
            if known and (why := _forbidden(module.name, target.name)):
                found.append(f"{module.name}:{target.line} imports {target.name}: {why}")
    return found


def _forbidden(source: str, target: str) -> str | None:
    here, there = group(source), group(target)
    if under(source, ORACLE) and source not in COMPARES_ON_SPARK and not under(target, JUDGES_WITH):
        return "an oracle shares nothing with what it judges"
    if here == there:
        return None
    by, why = IMPORTED_BY.get(there, (None, ""))
    if by is not None and here not in by:
        return why
    mine, its = LAYERS[here], LAYERS[there]
    if its > mine:
        return f"layer {its} is above layer {mine}"
    if its == mine:
        return f"siblings of layer {mine} never import each other"
    return None


def door_violations(tree: Tree) -> list[str]:
    """Vendor packages imported outside their door."""
    found = []
    for module in tree.values():
        for vendor in module.imports():
            top = vendor.name.split(".")[0]
            if top in sys.stdlib_module_names or top in (PACKAGE, "compat", ""):
                continue
            if not under(module.name, DOORS.get(top, ())):
                doors = ", ".join(DOORS.get(top, ())) or "no module of the package"
                found.append(f"{module.name}:{vendor.line} imports {top}: its door is {doors}")
    return found


def cycle(tree: Tree) -> list[str]:
    """The names of one import cycle, function-level imports included; empty when there is none."""
    graph = {
        module.name: {
            target.name
            for target in own_imports(module, dict(tree))
            # Importing x.y runs x/__init__.py, but those hold a docstring only.
            if target.name != module.name
        }
        for module in tree.values()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def init_violations(tree: Tree) -> list[str]:
    """Inner __init__.py files that hold anything but a docstring; and a root one that imports."""
    found = []
    for module in tree.values():
        if module.name in FOR_USERS and module.is_inner_init:
            found += _more_than_names(module)
        elif module.is_inner_init:
            if len(module.tree.body) != 1 or ast.get_docstring(module.tree) is None:
                found.append(f"{module.name}/__init__.py must hold one docstring only")
        elif module.is_init and any(module.imports()):
            found.append(f"{module.name}/__init__.py imports: setup.cfg reads the version from it")
    return found


def rule_violations(tree: Tree) -> list[str]:
    """Packages whose docstring does not say their rule; a folder inside a package may share its rule."""
    return [
        f"{module.name}: its docstring names no rule (Rule: ...)"
        for module in tree.values()
        if module.is_inner_init and module.name not in FOR_USERS and under(module.name, (PACKAGE,))
        if (module.name.count(".") == 1 or room(module.name) in ("clients", "runtime"))
        and "Rule: " not in (ast.get_docstring(module.tree) or "")
    ]


def _more_than_names(module: Module) -> list[str]:
    """A docstring, imports, `__all__`: nothing else belongs where users import from."""
    rest = module.tree.body[1:]
    names = [node for node in rest if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    other = [node for node in rest if not isinstance(node, ast.ImportFrom) and node not in names]
    if other or not names or ast.get_docstring(module.tree) is None:
        return [f"{module.name}/__init__.py must hold a docstring, the names for users and __all__ only"]
    return []


def exit_violations(tree: Tree) -> list[str]:
    """Calls that end the process, outside the places in MAY_EXIT."""
    return [
        f"{module.name}:{line} uses {what}: only {', '.join(MAY_EXIT)} may"
        for module in tree.values()
        if not under(module.name, MAY_EXIT)
        for what, line in _names_used(module)
        if what in EXITS
    ]


def time_violations(tree: Tree) -> list[str]:
    """Modules that import `time` although they are to be given a clock."""
    return [
        f"{module.name}:{found.line} imports time: ask legacy_mm.base.clock"
        for module in tree.values()
        if not under(module.name, MAY_USE_TIME)
        for found in module.imports()
        if found.name.split(".")[0] == "time"
    ]


def property_violations(tree: Tree) -> list[str]:
    """Look-ups of client properties by their names, and settings that are made outside `words`."""
    found = []
    for module in tree.values():
        if under(module.name, MAY_READ_PROPERTIES) or under(module.name, ORACLE):
            continue
        found += [
            f"{module.name}:{line} looks up {name}: read the field of the client's settings"
            for name, line in looked_up(module)
            if name in CLIENT_PROPERTIES
        ]
        found += [
            f"{module.name}:{line} uses {what}: `words` makes the settings of clients"
            for what, line in _names_used(module)
            if what in MAKES_SETTINGS
        ]
    return found


def looked_up(module: Module, kind: type[ast.expr_context] = ast.expr_context) -> Iterator[tuple[str, int]]:
    """Yield texts that are keys, as they stand or as a constant of the module: of `[...]`, and of `get` and `pop`."""
    constants = {
        node.targets[0].id: node.value
        for node in module.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(module.tree):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, kind):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            key = node.args[0] if node.args else None
        text = constants.get(key.id) if isinstance(key, ast.Name) else key
        if key is not None and isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield text.value, key.lineno


def secret_violations(tree: Tree) -> list[str]:
    """Secrets that are revealed outside the places in MAY_REVEAL."""
    return [
        f"{module.name}:{node.lineno} reveals a secret: only {', '.join(MAY_REVEAL)} may"
        for module in tree.values()
        if not under(module.name, MAY_REVEAL)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "reveal"
    ]


def name_violations(tree: Tree) -> list[str]:
    """Modules whose name says nothing."""
    return [
        f"{name}: name it after what it holds"
        for name in tree
        if name.rpartition(".")[2] in NAMES_THAT_SAY_NOTHING and name not in ALLOWED_NAMES
    ]


def _names_used(module: Module) -> list[tuple[str, int]]:
    """Names and dotted names in a module, with `import ... as` undone."""
    real: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            real |= {a.asname: a.name for a in node.names if a.asname}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            real |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    used = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name):
            used.append((real.get(node.id, node.id), node.lineno))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            base = real.get(node.value.id, node.value.id)
            used.append((f"{base}.{node.attr}", node.lineno))
    return used


# Module name -> why several modules have it.
ALLOWED_TWICE = {
    "membership": "ours, and librdkafka's",
    "plugins": "handlers and listeners of users, and the classes that Connect's API tells of",
    "flags": "each feature has its flags in its folder",
    "feature": "each feature has its value, for its line, in its folder",
}


def _type_name(node: ast.stmt) -> str:
    """The name of a class, or of a type such as `Say = Callable[[str], None]`; empty for anything else."""
    if isinstance(node, ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
        target = node.targets[0]
        return target.id if isinstance(target, ast.Name) and not target.id.isupper() else ""
    return ""


def twice_violations(tree: Tree) -> list[str]:
    """Public classes and types of one name, and modules of one name; a command's module may be called like its work."""
    modules: dict[str, list[str]] = {}
    classes: dict[str, list[str]] = {}
    for module in tree.values():
        if module.is_init or group(module.name) in ("cli", LABORATORY):
            continue
        modules.setdefault(module.name.rpartition(".")[2], []).append(module.name)
        for node in module.tree.body:
            if (name := _type_name(node)) and not name.startswith("_"):
                classes.setdefault(name, []).append(module.name)
    found = [f"class {name} is in {', '.join(where)}" for name, where in classes.items() if len(where) > 1]
    return found + [
        f"module {name} is {', '.join(where)}"
        for name, where in modules.items()
        if len(where) > 1 and name not in ALLOWED_TWICE
    ]

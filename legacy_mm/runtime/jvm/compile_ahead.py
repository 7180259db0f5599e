"""Java sources of ours, compiled ahead into little jars: Janino needs a second of CPU for each, and keeps memory.

`bin/setup` writes them beside the archive of Spark's classes (`class_archive.py`), and `python -m
legacy_mm.runtime.spark.archive_classes` does where the package was installed by pip. A jar belongs to the text of its
source; where there is none a process compiles the source when it needs it.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from legacy_mm.policies.compiled_java import path_for
from legacy_mm.runtime.jvm.gateway import Jvm


def write(jvm: Jvm, text: str, signatures: Sequence[str] = ()) -> None:
    """Compile a source, unless its jar is there. Raise OSError, and any error of py4j and Java.

    `signatures` are sources of classes that it uses and that come from elsewhere when it runs; each may use those
    before it.
    """
    path = path_for(text)
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        new = Path(folder) / path.name
        with zipfile.ZipFile(new, "w") as jar:
            for name, code in _compiled(jvm, [*signatures, text]).items():
                jar.writestr(name.replace(".", "/") + ".class", code)
        new.replace(path)


def _compiled(jvm: Jvm, sources: Sequence[str]) -> dict[str, bytes]:
    """Return the name and the code of each class of the last source."""
    java: Any = jvm.connect().jvm
    loader, compiler = java.java.lang.ClassLoader.getSystemClassLoader(), None
    for text in sources:
        compiler = java.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook(text)
        loader = compiler.getClassLoader()
    return {} if compiler is None else {str(name): bytes(code) for name, code in compiler.getBytecodes().items()}

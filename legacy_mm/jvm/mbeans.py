"""MBeans in the driver's JVM: one call hands over all values, and Java alone answers its clients.

Spark's own Janino compiles the Java class, `Beans.java`, at run time, so no jar is built. Each bean keeps its values
in a map that the next call replaces; no thread of a JMX client ever reaches Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from legacy_mm.jvm.gateway import Jvm

AttributeRow = tuple[str, str, str, float | int | str]
"""Attribute, declared type, class of the value, value."""


class MBeans:
    """The beans this process has in the JVM's platform MBean server."""

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._beans: Any = None

    def publish(self, beans: Mapping[str, Iterable[AttributeRow]]) -> None:
        """Publish exactly these beans from now on. Raise any error of py4j and Java."""
        if self._beans is None:
            self._beans = self._compile()
        lines = []
        for name, rows in beans.items():
            lines.append(f"={name}")
            lines += [f"{name}\t{declared}\t{java}\t{_text(value)}" for name, declared, java, value in rows]
        self._beans.publish("\n".join(lines))

    def _compile(self) -> Any:
        gateway = self._jvm.connect()
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.cook((files("legacy_mm.jvm") / "Beans.java").read_text(encoding="utf-8"))
        java = gateway.jvm.java.lang
        made = compiler.getClassLoader().loadClass("legacy_mm.Beans")
        return made.getConstructor(gateway.new_array(java.Class, 0)).newInstance(gateway.new_array(java.Object, 0))


def _text(value: float | int | str) -> str:
    """Format a number for Java: Python writes nan, Java NaN."""
    return "NaN" if value != value else str(value)

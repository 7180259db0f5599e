"""MBeans in the driver's JVM: one call hands over all values, and Java alone answers its clients.

The Java class is `Beans.java`, compiled ahead (`compile_ahead.py`) or now by Spark's own Janino. Each bean keeps its
values in a map that the next call replaces; no thread of a JMX client ever reaches Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from legacy_mm.policies.compiled_java import path_for
from legacy_mm.runtime.jvm.gateway import Jvm

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
            self._beans = self._make()
        lines = []
        for name, rows in beans.items():
            lines.append(f"={name}")
            lines += [f"{name}\t{declared}\t{java}\t{_text(value)}" for name, declared, java, value in rows]
        self._beans.publish("\n".join(lines))

    def unread(self) -> float:
        """Return the seconds since a client last asked for a value. Raise any error of py4j and Java."""
        return 0.0 if self._beans is None else float(self._beans.unread())

    def _make(self) -> Any:
        gateway, text = self._jvm.connect(), source()
        java, net = gateway.jvm.java.lang, gateway.jvm.java.net
        if (ahead := path_for(text)).exists():
            urls = gateway.new_array(net.URL, 1)
            urls[0] = net.URI(ahead.as_uri()).toURL()
            loader = net.URLClassLoader(urls)
        else:
            compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
            compiler.cook(text)
            loader = compiler.getClassLoader()
        made = loader.loadClass("legacy_mm.Beans")
        return made.getConstructor(gateway.new_array(java.Class, 0)).newInstance(gateway.new_array(java.Object, 0))


def source() -> str:
    """Return the Java class."""
    return (files("legacy_mm.runtime.jvm") / "Beans.java").read_text(encoding="utf-8")


def _text(value: float | int | str) -> str:
    """Format a number for Java: Python writes nan, Java NaN."""
    return "NaN" if value != value else str(value)

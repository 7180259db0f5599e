"""Write the files that Java programs read: properties and log configurations. Rule: only writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PATTERN = "[%d] %p %m (%c)%n"  # as in Kafka's config/tools-log4j.properties


def write_properties(path: Path, properties: Mapping[str, str]) -> Path:
    """Write a properties file for `java.util.Properties.load`: ISO-8859-1 and escapes."""
    lines = [f"{_escape(key, is_key=True)}={_escape(text)}\n" for key, text in properties.items()]
    path.write_text("".join(lines), encoding="ascii")
    return path


def write_log_configuration(path: Path, *, generation: int, level: str, file: Path | None) -> str:
    """Write a log configuration for log4j 1 or 2, to `file` or to stderr; return the JVM flag that names it."""
    if generation == 1:
        path.write_text(_log4j1(level, file), encoding="utf-8")
        return f"-Dlog4j.configuration=file:{path}"
    path.write_text(_log4j2(level, file), encoding="utf-8")
    return f"-Dlog4j2.configurationFile={path}"


def _escape(text: str, *, is_key: bool = False) -> str:
    out = []
    for index, sign in enumerate(text):
        if sign == "\\" or (is_key and sign in "=: ") or (index == 0 and sign in "#! "):
            out.append("\\" + sign)
        elif sign in "\n\r\t\f":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}[sign])
        elif " " <= sign <= "~":
            out.append(sign)
        else:
            units = sign.encode("utf-16-be")
            out += [f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)]
    return "".join(out)


def _log4j1(level: str, file: Path | None) -> str:
    if file is None:
        appender = ["ConsoleAppender", "log4j.appender.out.Target=System.err"]
    else:
        appender = ["FileAppender", f"log4j.appender.out.File={file}"]
    return "\n".join(
        [
            f"log4j.rootLogger={level}, out",
            f"log4j.appender.out=org.apache.log4j.{appender[0]}",
            appender[1],
            "log4j.appender.out.layout=org.apache.log4j.PatternLayout",
            f"log4j.appender.out.layout.ConversionPattern={PATTERN}",
            "",
        ]
    )


def _log4j2(level: str, file: Path | None) -> str:
    if file is None:
        appender = ["appender.out.type=Console", "appender.out.target=SYSTEM_ERR"]
    else:
        appender = ["appender.out.type=File", f"appender.out.fileName={file}"]
    return "\n".join(
        [
            "status=ERROR",
            "name=testbed",
            *appender,
            "appender.out.name=out",
            "appender.out.layout.type=PatternLayout",
            f"appender.out.layout.pattern={PATTERN}",
            f"rootLogger.level={level}",
            "rootLogger.appenderRef.out.ref=out",
            "",
        ]
    )

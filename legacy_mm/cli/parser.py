"""The parser of our own options, made by ConfigArgParse out of the catalogue's rows.

The old tool's words never come here: `compat.command_line` reads them with joptsimple's habits
and hands over only words such as `--spark.master=local`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import configargparse

from legacy_mm.config.catalogue import OPTIONS, OwnOptions
from legacy_mm.config.option import Option
from legacy_mm.errors import ConfigurationError


class _Parser(configargparse.ArgumentParser):  # type: ignore[misc]  # the package has no types
    """Raises instead of exiting: only `cli/exits.py` may end the process."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(message.replace("argument --", "Option --", 1))


def read_own_options(
    words: Sequence[str], environment: Mapping[str, str] | None = None
) -> OwnOptions:
    """Values of our own options: command line, then environment variable, then default."""
    given = vars(_parser().parse_args(list(words), env_vars=environment))
    values: dict[str, Any] = {row.attribute: given[row.attribute] for row in OPTIONS}
    values["spark_conf"] = _spark_properties(values["spark_conf"] or [])
    return OwnOptions(**values)


def own_options_help() -> str:
    """Our own options, their environment variables and defaults, as text."""
    return str(_parser().format_help())


def _parser() -> _Parser:
    parser = _Parser(
        prog="legacy-mm",
        usage="kafka-mirror-maker.sh [options of Kafka 3.9] [options below]",
        add_help=False,
        allow_abbrev=False,
        add_config_file_help=False,
    )
    group = parser.add_argument_group("Options that Kafka's tool does not have")
    for row in OPTIONS:
        _add(group, row)
    return parser


def _add(group: Any, row: Option) -> None:
    group.add_argument(
        f"--{row.name}",
        dest=row.attribute,
        env_var=row.environment_variable,
        default=row.default,
        metavar=f"<{row.argument}>",
        help=row.help,
        action="append" if row.repeated else "store",
        **({"choices": row.choices} if row.choices else {"type": row.type}),
    )


def _spark_properties(pairs: Sequence[str]) -> dict[str, str]:
    properties = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name.strip():
            raise ConfigurationError(
                "Option --spark.conf takes name=value, such as spark.cores.max=4"
            )
        properties[name.strip()] = value
    return properties

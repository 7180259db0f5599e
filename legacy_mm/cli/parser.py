"""The parser of our own options, made by ConfigArgParse out of the catalogue's rows.

The legacy tool's words never come here: `words.legacy_tool.command_line` reads them with joptsimple's habits
and hands over only words such as `--spark.master=local`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import configargparse

from legacy_mm.base.errors import ConfigurationError, printed_error
from legacy_mm.base.option import ENVIRONMENT_PREFIX, Option, OptionValue, environment_variable
from legacy_mm.features.rows import BY_NAME, FLAGS, WITHOUT_EFFECT, as_pair
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.legacy_tool import mirror_maker_2_file, misspelt
from legacy_mm.words.legacy_tool.releases import CURRENT
from legacy_mm.words.options import unbuilt
from legacy_mm.words.options.option_catalogue import OPTIONS, OwnOptions, option_called

_FLAGS = (*(row.option for row in FLAGS), *WITHOUT_EFFECT.values())

_LOST = "--"
"""argparse before Python 3.13 makes an empty list of `--name=--`."""


class _Parser(configargparse.ArgumentParser):  # type: ignore[misc]  # the package has no types
    """Raises instead of exiting: only `cli/exits.py` may end the process."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(message.replace("argument --", "Option --", 1))


class _OptionsFile(configargparse.ConfigFileParser):  # type: ignore[misc]  # the package has no types
    """`--features.config`: a Java properties file; a repeated option may have a line for each value."""

    def parse(self, stream: Path) -> dict[str, str | list[str]]:
        """Return option -> value or values; raises ConfigurationError for a key that is no option."""
        found: dict[str, str | list[str]] = {}
        repeated: dict[str, list[str]] = {}
        entries = _entries(stream)
        if remark := mirror_maker_2_file.about(str(stream), entries):
            raise ConfigurationError(f"Option --features.config: {remark}")
        for entry in entries:
            row = option_called(entry.name)
            if row is None or row.is_file_of_options:
                raise ConfigurationError(f"{stream}, line {entry.line}: {_not_a_key(entry.name)}")
            if row.repeated:
                found[row.name] = repeated.setdefault(row.name, [])
                repeated[row.name].append(as_pair(entry.name, entry.text))
            else:
                found[row.name] = entry.text.strip()
        return found


def _entries(path: Path) -> list[properties_file.PropertyEntry]:
    try:
        return properties_file.load_entries(str(path))
    except ConfigurationError as error:
        raise ConfigurationError(f"Option --features.config: {printed_error(error)}") from None


def _not_a_key(name: str) -> str:
    return unbuilt.refusal(name) if unbuilt.is_unbuilt(name) else misspelt.in_options_file(name, CURRENT.options)


def read_own_options(words: Sequence[str], environment: Mapping[str, str]) -> OwnOptions:
    """Read values of our own options: command line, environment variable, `--features.config`, default."""
    return _typed(_read(_parser(), words, environment))


def own_values(words: Sequence[str], environment: Mapping[str, str]) -> list[OptionValue]:
    """Return every own option, and every flag that was given, with its origin: ConfigArgParse reports its sources."""
    parser = _parser()
    given = _read(parser, words, environment)
    origins = {
        attribute: origin
        for source, settings in parser.get_source_to_settings_dict().items()
        for attribute, origin in _origins(source, settings)
    }
    shown = (*OPTIONS, *(row for row in _FLAGS if given[row.attribute] is not None))
    return [OptionValue(row.name, _shown(given[row.attribute]), _origin_of(row, given, origins)) for row in shown]


def _read(parser: _Parser, words: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    for variable in environment:
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", ".")
        if variable.startswith(ENVIRONMENT_PREFIX) and unbuilt.is_unbuilt(name):
            raise ConfigurationError(f"{variable}: {unbuilt.refusal(name)}")
    named = {name: text for name, text in environment.items() if text}  # a compose file makes empty ones
    variables = {**_spelled_today(named), **named}
    given: dict[str, Any] = vars(parser.parse_args(list(words), env_vars=variables))
    return {name: _LOST if value == [] else value for name, value in given.items()}


def _spelled_today(environment: Mapping[str, str]) -> dict[str, str]:
    """Return flags in variables of older spellings, under today's variables."""
    older = {environment_variable(name): row for name, row in BY_NAME.items() if name != row.name}
    return {older[name].option.environment_variable: text for name, text in environment.items() if name in older}


def _typed(given: Mapping[str, Any]) -> OwnOptions:
    values: dict[str, Any] = {row.attribute: given[row.attribute] for row in OPTIONS}
    values["spark_conf"] = _spark_properties(values["spark_conf"] or [])
    values["handler_step"] = tuple(values["handler_step"] or ())
    flags = {row.name: given[row.attribute] for row in _FLAGS if given[row.attribute] is not None}
    values["features"] = {name: [text] if isinstance(text, str) else text for name, text in flags.items()}
    return OwnOptions(**values)


def _origins(source: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the attribute of each option that this source gives, and where the source says it."""
    kind, _, path = source.partition("|")
    lines = _lines(path) if kind == "config_file" else {}
    for key, (action, _) in settings.items():
        if action is not None:
            of_variable = key if kind == "environment_variables" else "default"
            yield action.dest, f"{path}:{lines[action.dest]}" if lines else of_variable


def _lines(path: str) -> dict[str, int]:
    """Return the line of each option in a file, the last that counts, by the option's attribute."""
    found = ((option_called(entry.name), entry.line) for entry in _entries(Path(path)))
    return {row.attribute: line for row, line in found if row is not None}


def _origin_of(row: Option, given: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """Return a value's origin. ConfigArgParse lists the command line as one: no source means from there."""
    silent = "default" if given[row.attribute] is None else "command line"
    return origins.get(row.attribute, silent)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return " ".join(value) if isinstance(value, list) else str(value)


def own_options_help() -> str:
    """Return our own options, their environment variables and defaults, as text."""
    return str(_parser().format_help())


def _parser() -> _Parser:
    parser = _Parser(
        prog="legacy-mm",
        usage="kafka-mirror-maker.sh [options of Kafka 3.9] [options below]",
        add_help=False,
        allow_abbrev=False,
        add_config_file_help=False,
        config_file_parser_class=_OptionsFile,
        config_file_open_func=Path,  # `_OptionsFile` reads it
    )
    group = parser.add_argument_group("Options that the legacy tool does not have")
    for row in OPTIONS:
        _add(group, row)
    flags = parser.add_argument_group("Feature flags, with MirrorMaker 2's names (see legacy-mm features)")
    for row in _FLAGS:
        _add(flags, replace(row, default=None, type=str, choices=()))  # `feature_flags` reads the texts
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
        is_config_file_arg=row.is_file_of_options,
        **({"choices": row.choices} if row.choices else {"type": row.type}),
    )


def _spark_properties(pairs: Sequence[str]) -> dict[str, str]:
    properties = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name.strip():
            raise ConfigurationError("Option --spark.conf takes name=value, such as spark.cores.max=4")
        properties[name.strip()] = value
    return properties

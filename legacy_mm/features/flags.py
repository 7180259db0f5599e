"""Flags as they were given become `FeatureSettings`: precedence, spellings, types, needs and contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.flag import Flag
from legacy_mm.features.flag_values import FlagValues, Given, first_given
from legacy_mm.features.naming import flags as naming
from legacy_mm.features.naming.policy_names import POLICY as _POLICY
from legacy_mm.features.naming.policy_names import foreign
from legacy_mm.features.rows import BY_NAME, FEATURES, FLAGS, WITHOUT_EFFECT, as_pair, spelled_today


def given_in(file: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the flags in a client's properties file; today's spelling counts if there are several."""
    found: dict[str, list[str]] = {}
    for key, text in file.items():
        name = spelled_today(key)
        if name is not None and BY_NAME[name].option.repeated:
            found.setdefault(name, []).append(as_pair(key, text))
        elif name is not None and (key == name or name not in file):
            found[name] = [text]
    return found


def of_mirror_maker_2(given: Given) -> FeatureSettings:
    """Return the outcome of the flags in a file of MirrorMaker 2, whose aliases may be empty.

    Raises ConfigurationError.
    """
    return _read([given], of_mirror_maker_2=True)


def settings(own: Given | None = None, *files: Given) -> FeatureSettings:
    """Return the outcome of the flags; `own` options first, then clients' files in the order of their precedence.

    Raises ConfigurationError. But where no feature is on, flags in a client's file that cannot be are a remark: the
    legacy tool ignored them, and so must an unchanged line.
    """
    sources = (own or {}, *files)
    if any(files) and not _asks_for_features(sources):
        return _passing_over(sources[0], files)
    return _read(sources)


def _asks_for_features(sources: Sequence[Given]) -> bool:
    values = (first_given(sources, row.name) for row in FLAGS if row.is_feature)
    return any(value is not None and value[-1].strip().lower() == "true" for value in values)


def _passing_over(own: Given, files: Sequence[Given]) -> FeatureSettings:
    """Ignore all flags that cannot be, and a class of a foreign jar that keeps names, because no feature is on."""
    policy = (first_given((own, *files), _POLICY) or [""])[-1].strip()
    if _POLICY not in own and foreign(policy):
        others = [{name: texts for name, texts in file.items() if name != _POLICY} for file in files]
        remark = f"{_POLICY}={policy} has no effect: no feature is on, and names are kept without it"
        made = _passing_over(own, others)
        return replace(made, remarks=(*made.remarks, remark))
    try:
        made = _read((own, *files))
        return replace(made, remarks=(*made.remarks, *_lists_of_files(own, files)))
    except ConfigurationError as error:
        remark = f"{error}. No feature is on, so the flags in the clients' files have no effect, as in the legacy tool"
        return replace(_read((own,)), remarks=(remark,))


def _lists_of_files(own: Given, files: Sequence[Given]) -> Iterator[str]:
    """Yield what to say of lists in the clients' files, which choose topics even now."""
    for name in naming.LISTS:
        if name not in own and first_given(files, name) is not None:
            yield (
                f"{name} in a client's file decides which topics are mirrored, though no feature is on; the legacy "
                f"tool ignored it, and --{name} is this mirror's own option"
            )


def _read(sources: Sequence[Given], *, of_mirror_maker_2: bool = False) -> FeatureSettings:
    """Return all settings, or raise the first contradiction."""
    values = FlagValues(FLAGS, sources)
    for feature in FEATURES:
        feature.imply(values)
    for row in FLAGS:
        _check_needs(row, values, empty_aliases=of_mirror_maker_2)
    read = {feature: feature.read(values) for feature in FEATURES}
    detects_loops = values["detect.loops"]
    return FeatureSettings(
        {feature: found for feature, found in read.items() if found is not None},
        naming=naming.read(values, detects_loops=detects_loops, copies_own_names=of_mirror_maker_2),
        topics=naming.read_topics(values),
        preserve_partitions=values["preserve.partitions"],
        detect_loops=detects_loops,
        canary=values["feature.topics"],
        run_timeout=values["admin.timeout.ms"] / 1000,
        source_admin=values.pairs("source.admin"),
        target_admin=values.pairs("target.admin"),
        remarks=tuple(values.remarks),
    )


def _check_needs(row: Flag, values: FlagValues, *, empty_aliases: bool) -> None:
    if not values[row.name]:
        return
    for other in row.needs:
        if empty_aliases and other.name in naming.ALIASES and values.given(other.name):
            continue
        if not values[other.name] or (other.by_name and not values.given(other.name)):
            raise ConfigurationError(f"{row.name}=true needs {other.name}, because {other.because}")


def without_effect(*sources: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to say, once, about names that are accepted and do nothing."""
    for name, option in WITHOUT_EFFECT.items():
        if any(name in source for source in sources):
            yield f"{name}: {option.help}"

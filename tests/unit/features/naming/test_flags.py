"""How topics are called: which flags say so, which exclude each other, and how MirrorMaker 2's client is told."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.flag_values import FlagValues
from legacy_mm.features.naming.flags import NamingSettings, TopicFilterSettings, client_naming, read, read_topics
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY, LEGACY
from legacy_mm.features.rows import FLAGS

PACKAGE = "org.apache.kafka.connect.mirror."
ALIASES = {"source.cluster.alias": "w", "target.cluster.alias": "e"}


def values(given: dict[str, str]) -> FlagValues:
    return FlagValues(FLAGS, [{name: [text] for name, text in given.items()}])


def naming(**given: str) -> NamingSettings:
    found = values({name.replace("_", "."): text for name, text in given.items()})
    return read(found, detects_loops=found["detect.loops"])


def test_without_flags_names_are_kept_as_the_legacy_tool_kept_them() -> None:
    found = naming()
    assert (found.policy, found.source_alias, found.target_alias, found.separator) == (LEGACY, "", "target", ".")


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({"rename.topics": "true"}, DEFAULT),
        ({"replication.policy.class": f"{PACKAGE}{DEFAULT}"}, DEFAULT),
        ({"rename.topics": "true", "replication.policy.class": DEFAULT}, DEFAULT),
        ({"replication.policy.class": f"{PACKAGE}{IDENTITY}"}, IDENTITY),
        ({"replication.policy.class": "mine:Policy"}, "mine:Policy"),
    ],
)
def test_who_says_how_topics_are_called(given: dict[str, str], policy: str) -> None:
    assert read(values(ALIASES | given), detects_loops=False).policy == policy


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rename.topics": "true", "target.cluster.alias": "e"}, "needs source.cluster.alias"),
        ({"rename.topics": "true", "source.cluster.alias": "w"}, "needs target.cluster.alias"),
        (
            ALIASES | {"rename.topics": "true", "replication.policy.class": IDENTITY},
            f"rename.topics=true and replication.policy.class={IDENTITY} exclude each other",
        ),
        (ALIASES | {"rename.topics": "true", "detect.loops": "true"}, "detect.loops=true and DefaultReplicationPolicy"),
        (
            {"replication.policy.class": IDENTITY, "source.cluster.alias": "w", "target.cluster.alias": "w"},
            "are both w",
        ),
        ({"source.cluster.alias": "a b"}, "source.cluster.alias=a b is not possible"),
        ({"source.cluster.alias": '"w"'}, "the quotes are part of it: write source.cluster.alias=w"),
        ({"replication.policy.separator": "/"}, "replication.policy.separator=/ is not possible"),
        ({"replication.policy.class": "com.x.Policy"}, "com.x.Policy is not possible"),
    ],
)
def test_what_cannot_be(given: dict[str, str], said: str) -> None:
    found = values(given)
    with pytest.raises(ConfigurationError) as caught:
        read(found, detects_loops=found["detect.loops"])
    assert said in str(caught.value)


def test_an_empty_alias_and_separator_keep_names_and_it_is_remarked() -> None:
    found = values(
        {
            "replication.policy.class": DEFAULT,
            "source.cluster.alias": "",
            "replication.policy.separator": "",
            "target.cluster.alias": "e",
        }
    )
    assert read(found, detects_loops=False).policy == IDENTITY
    assert len(found.remarks) == 1
    assert "names are kept" in found.remarks[0]


@pytest.mark.parametrize(
    "given",
    [
        {"source.cluster.alias": "dc1.prod"},
        {"target.cluster.alias": "dc2.prod"},
        {"source.cluster.alias": "dc1-prod", "replication.policy.separator": "-"},
        {"source.cluster.alias": "dc1", "replication.policy.separator": ""},
    ],
    ids=str,
)
def test_an_alias_that_no_name_tells_is_refused_unless_it_is_mirror_maker_2_s(given: dict[str, str]) -> None:
    renamed = ALIASES | {"rename.topics": "true"} | given
    with pytest.raises(
        ConfigurationError, match="exclude each other, because a name is read up to its first separator"
    ):
        read(values(renamed), detects_loops=False)
    assert read(values(renamed), detects_loops=False, copies_own_names=True).policy == DEFAULT
    assert read(values(ALIASES | given), detects_loops=False).policy == LEGACY, "names are kept"


@pytest.mark.parametrize(
    ("given", "include", "exclude"),
    [
        ({"topics": "a, b"}, ("a", "b"), (r".*[\-\.]internal", r".*\.replica", "__.*")),
        ({"topics": "a", "mm2.compatibility": "4"}, ("a",), (r"mm2.*\.internal", r".*\.replica", "__.*")),
        ({"topics.exclude": "x"}, (".*",), ("x",)),
        ({"topics.exclude": "+x"}, (".*",), (r".*[\-\.]internal", r".*\.replica", "__.*", "x")),
        ({"topics": "", "topics.exclude": ""}, (), ()),
    ],
)
def test_lists_of_topics(given: dict[str, str], include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    assert read_topics(values(given)) == TopicFilterSettings(include, exclude)


def test_without_lists_the_old_pattern_stands_alone() -> None:
    assert read_topics(values(ALIASES)) is None


def test_a_client_of_mirror_maker_2_renames_by_default_and_needs_no_alias() -> None:
    """It reads what is there, and names nothing."""
    found = client_naming({"bootstrap.servers": "one:1", "replication.policy.separator": " _ "})
    assert (found.policy, found.source_alias, found.separator) == (DEFAULT, "", "_")
    assert found.properties["bootstrap.servers"] == "one:1", "a policy of the user's gets all of them"
    with pytest.raises(ConfigurationError, match="mm2.compatibility: '5' is none of 3.9, 4"):
        client_naming({"mm2.compatibility": "5"})

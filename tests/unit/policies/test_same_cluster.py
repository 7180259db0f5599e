"""What is said, or refused, where both ends are one cluster."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.policies.same_cluster import same_addresses, what_one_cluster_means
from tests.fixtures import client_settings


@pytest.mark.parametrize(
    ("renames", "features", "aliases", "words"),
    [
        (True, True, ("up", "up"), "its topics are renamed within it"),
        (False, False, ("", "target"), "records are copied into the topics that they were read from"),
    ],
)
def test_what_runs_is_warned_of(renames: bool, features: bool, aliases: tuple[str, str], words: str) -> None:
    assert words in what_one_cluster_means("abc", renames=renames, features=features, aliases=aliases)


@pytest.mark.parametrize(
    ("renames", "aliases", "words"),
    [
        (True, ("up", "copy"), r"source.cluster.alias=up and target.cluster.alias=copy are one cluster \(abc\)"),
        (False, ("up", "copy"), r"one cluster \(abc\), and with features that keep names"),
        (False, ("up", "up"), r"one cluster \(abc\), and with features that keep names"),
    ],
)
def test_what_would_go_round_is_refused(renames: bool, aliases: tuple[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        what_one_cluster_means("abc", renames=renames, features=True, aliases=aliases)


@pytest.mark.parametrize(
    ("source", "target", "address"),
    [
        ("a:1,b:2", "c:3, b:2", "b:2: if a broker answers there, "),
        ("a:1", "a:2", ""),
        ("a:1", "a:1", "a:1, so source and target are one cluster"),
        ("a:1,b:2", "b:2,a:1", "a:1, so source and target are one cluster"),
    ],
)
def test_bootstrap_lists_that_name_the_same_broker(source: str, target: str, address: str) -> None:
    """One address of several may be that of a broker that is gone."""
    text = same_addresses(
        *(
            client_settings.read_connection({"bootstrap.servers": listed}).bootstrap_servers
            for listed in (source, target)
        )
    )
    assert text.startswith(f"both files name {address}") if address else text == ""

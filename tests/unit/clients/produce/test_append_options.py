"""How the target is written to, as the old producer's properties say."""

from __future__ import annotations

import pytest

from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures import client_settings


def test_a_synchronous_producer_has_one_request_under_way() -> None:
    assert options_from(client_settings.read_producer({}), synchronous=True).in_flight == 1


@pytest.mark.parametrize(
    ("batch_size", "literal", "most"),
    [
        (None, False, 1_000_000),
        ("16384", False, 983_040),
        ("2000000", False, 2_000_000),
        ("16384", True, 16_384),
        ("0", True, 0),
    ],
)
def test_the_most_of_a_batch_that_is_made_of_several(batch_size: str | None, literal: bool, most: int) -> None:
    given = {"bootstrap.servers": "a:1", **({} if batch_size is None else {"batch.size": batch_size})}
    options = options_from(apply("producer", given, streams=1, literal=literal).producer)
    assert options.batch_bytes == most

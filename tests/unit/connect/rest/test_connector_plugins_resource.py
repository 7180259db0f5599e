"""`/connector-plugins` as clients meet it, over a socket."""

from __future__ import annotations

import pytest

from tests.fakes.herder import SOURCE
from tests.fixtures.rest_api import RestApi

OTHER = {"class": "org.apache.X", "type": "transformation"}
CONNECTOR = {"class": SOURCE, "type": "source", "version": "4.3.0"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [CONNECTOR]),
        ("/", [CONNECTOR]),
        ("?connectorsOnly=True", [CONNECTOR]),
        ("?connectorsOnly=false", [CONNECTOR, OTHER]),
        ("?connectorsOnly=", [CONNECTOR, OTHER]),
    ],
)
def test_the_list_has_connectors_unless_all_are_asked_for(api: RestApi, query: str, found: object) -> None:
    assert api.call("GET", f"/connector-plugins{query}").body == found


@pytest.mark.parametrize("name", [SOURCE, "MirrorSourceConnector"])
def test_definitions(api: RestApi, name: str) -> None:
    assert api.call("GET", f"/connector-plugins/{name}/config").body == [{"name": "topics", "type": "LIST"}]
    found = api.call("GET", "/connector-plugins/Nothing/config")
    assert (found.status, found.body["message"]) == (404, "Unknown plugin Nothing.")


def test_a_broken_configuration_is_200_with_its_errors(api: RestApi) -> None:
    path = "/connector-plugins/MirrorSourceConnector/config/validate"
    found = api.call("PUT", path, {"bad": 1, "empty": None, "topics": "a"})
    assert (found.status, found.body["error_count"]) == (200, 2)
    values = {each["value"]["name"]: each["value"]["value"] for each in found.body["configs"]}
    assert values == {"bad": "1", "empty": None, "topics": "a"}
    assert api.call("PUT", path, {"topics": ["a"]}).status == 400

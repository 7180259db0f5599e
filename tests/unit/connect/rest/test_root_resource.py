"""`/`, `/health`, `/metrics` and where a browser goes, over a socket."""

from __future__ import annotations

import gzip
from http import HTTPStatus

import pytest
from prometheus_client.parser import text_string_to_metric_families

from legacy_mm.connect.entities import ServerInfo, WorkerStatus
from legacy_mm.connect.rest.operation import Operation
from legacy_mm.connect.rest.root_resource import RootResource
from legacy_mm.metrics.prometheus import scrape_of
from tests.fakes.herder import FakeHerder
from tests.fixtures.rest_api import RestApi

FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("accept", [{}, {"Accept": "*/*"}, {"Accept": "application/json, text/html;q=0.9"}])
def test_a_program_gets_connect_s_root(api: RestApi, accept: dict[str, str]) -> None:
    found = api.call("GET", "/", headers=accept)
    assert (found.status, found.headers["content-type"]) == (200, "application/json")
    assert ServerInfo(**found.body).version == "4.3.0"


@pytest.mark.parametrize("accept", [FIREFOX, "text/html", "text/html, */*"])
def test_a_browser_is_sent_on_to_the_page(api: RestApi, accept: str) -> None:
    found = api.call("GET", "/", headers={"Accept": accept})
    assert (found.status, found.headers["location"]) == (303, "/status")
    assert api.call("GET", "/status", headers={"Accept": accept}).status == 200


@pytest.mark.parametrize(
    "status",
    [
        WorkerStatus(HTTPStatus.OK, "healthy", "Worker has completed startup and is ready to handle requests."),
        WorkerStatus(HTTPStatus.SERVICE_UNAVAILABLE, "starting", "Worker is still starting up."),
        WorkerStatus(HTTPStatus.INTERNAL_SERVER_ERROR, "unhealthy", "It has failed."),
    ],
)
def test_the_health_of_the_worker(api: RestApi, status: WorkerStatus) -> None:
    api.herder.health = status
    found = api.call("GET", "/health")
    assert (found.status, found.body) == (status.code, {"status": status.status, "message": status.message})


def test_a_worker_that_says_nothing_is_unhealthy() -> None:
    health = RootResource(FakeHerder(), scrape_of(list)).operations()["/health"]["GET"]
    assert isinstance(health, Operation)
    assert health.seconds == 10
    late = health.late()
    assert (late.status_code, b'"status":"unhealthy"' in late.body) == (500, True)


def test_the_numbers_are_those_of_the_metrics_port(api: RestApi) -> None:
    found = api.call("GET", "/metrics", headers={"Accept": "text/html"})
    assert found.status == 200
    assert found.headers["content-type"].startswith("text/plain")
    families = {family.name for family in text_string_to_metric_families(found.text)}
    assert "legacy_mm_records_copied" in families
    one = api.call("GET", "/metrics?name[]=legacy_mm_records_copied_total").text
    assert {family.name for family in text_string_to_metric_families(one)} <= {"legacy_mm_records_copied"}


def test_a_scrape_is_compressed_where_the_scraper_wants_it(api: RestApi) -> None:
    with api.connection() as connection:
        connection.request("GET", "/metrics", headers={**api.headers, "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        assert answer.headers["content-encoding"] == "gzip"
        assert b"legacy_mm_records_copied" in gzip.decompress(answer.read())

"""What follows from the settings of a flow."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.flow_settings import SERVERS, flow_settings, source_settings, target_with

LOGIN = {"security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": "reader", "sasl.password": "x"}


def test_the_clients_that_copy_are_known_by_their_logins_and_ids() -> None:
    plain = replace(flow_settings(), streams=2, first_stream=1)
    assert plain.own_clients == {("client-id", "g-1"), ("client-id", "g-2")}
    named = replace(
        flow_settings(source_settings({**SERVERS, **LOGIN})),
        target=target_with(plain.target, {**LOGIN, "sasl.username": "writer", "client.id": "producer-1"}),
    )
    logins = {("user", "reader"), ("user", "writer")}
    assert named.own_clients == {*logins, ("client-id", "g-0"), ("client-id", "producer-1")}


def test_a_name_without_a_login_is_nobody_s() -> None:
    unused = {**LOGIN, "security.protocol": "plaintext"}
    assert flow_settings(source_settings({**SERVERS, **unused})).own_clients == {("client-id", "g-0")}

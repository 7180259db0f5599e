"""What an answer shows of a configuration, and what a request with such a value means."""

from __future__ import annotations

from legacy_mm.base.redaction import HIDDEN
from legacy_mm.connect.config_secrets import completed, shown

WHOLE = {
    "topics": "orders",
    "source.cluster.ssl.key.password": "rosebud",
    "target.cluster.ssl.key.password": "${file:/run/secrets:key}",
    "source.cluster.sasl.oauthbearer.token.endpoint.url": "https://somebody:rosebud@login/token",
    "some.header": "Authorization: Basic cm9zZWJ1ZA==",
}


def test_a_secret_is_hidden_by_its_key_and_by_its_look() -> None:
    assert shown(WHOLE) == {
        "topics": "orders",
        "source.cluster.ssl.key.password": HIDDEN,
        "target.cluster.ssl.key.password": "${file:/run/secrets:key}",
        "source.cluster.sasl.oauthbearer.token.endpoint.url": f"https://{HIDDEN}@login/token",
        "some.header": f"Authorization: {HIDDEN}",
    }


def test_what_comes_back_as_it_was_shown_stays_as_it_was() -> None:
    assert completed(shown(WHOLE), WHOLE) == WHOLE
    changed = {"source.cluster.sasl.oauthbearer.token.endpoint.url": "https://login/token", "new": HIDDEN}
    assert completed(changed, WHOLE) == changed

"""A text is ours byte for byte, or it is refused with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.transactions.versioned_json import (
    JsonFields,
    is_flag,
    is_text,
    is_topic,
    list_of,
    or_null,
    read,
    whole,
    written,
)

FIELDS: JsonFields = {"topic": is_topic, "next": whole(0, 63), "adopted": or_null(whole(0)), "held": list_of(whole(0))}
TEXT = b'{"v":1,"topic":"orders","next":17,"adopted":null,"held":[1,4]}'
VALUES = {"topic": "orders", "next": 17, "adopted": None, "held": [1, 4]}
REFUSED = {
    None: "is empty",
    b"": "is no JSON object with a version",
    b"\xff\xfe": "is no JSON object with a version",
    b"[" * 100_000: "is no JSON object with a version",
    b"9" * 5_000: "is no JSON object with a version",
    b"17": "is no JSON object with a version",
    b'{"topic":"orders"}': "is no JSON object with a version",
    TEXT + b" " * (1 << 20): "is no JSON object with a version",
    TEXT.replace(b'"v":1', b'"v":2'): "has another version than 1",
    TEXT.replace(b'"v":1', b'"v":true'): "has another version than 1",
    TEXT.replace(b'"v":1', b'"v":1.0'): "has another version than 1",
    TEXT.replace(b',"next":17', b""): "lacks the field 'next'",
    TEXT.replace(b"next", b"n\\u00fcxt"): "lacks the field 'next'",
    TEXT.replace(b'"v":1', b'"v":1,"z\\n":0'): "has the field 'z\\n'",
    TEXT.replace(b"orders", b"or ders"): "has an impossible topic",
    TEXT.replace(b'"orders"', b"3"): "has an impossible topic",
    TEXT.replace(b"17", b"-1"): "has an impossible next",
    TEXT.replace(b"17", b"9223372036854775808"): "has an impossible next",
    TEXT.replace(b"17", b"17.0"): "has an impossible next",
    TEXT.replace(b"17", b"true"): "has an impossible next",
    TEXT.replace(b"17", b"NaN"): "has an impossible next",
    TEXT.replace(b"null", b"false"): "has an impossible adopted",
    TEXT.replace(b"[1,4]", b"[4,1]"): "has an impossible held",
    TEXT.replace(b"[1,4]", b"[1,1]"): "has an impossible held",
    TEXT.replace(b"[1,4]", b'[1,"a"]'): "has an impossible held",
    TEXT.replace(b"[1,4]", b"{}"): "has an impossible held",
    TEXT.replace(b",", b", "): "is not written as this program writes it",
    TEXT.replace(b'"next":17', b'"next":17,"next":17'): "is not written as this program writes it",
    b'{"v":1,"next":17,"topic":"orders","adopted":null,"held":[1,4]}': "is not written as this program writes it",
    TEXT.replace(b"orders", b"\\u006frders"): "is not written as this program writes it",
}


def test_the_text_of_some_fields() -> None:
    assert written(VALUES) == TEXT
    assert read(TEXT, FIELDS) == VALUES


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text)[:70])
def test_what_is_not_ours_is_refused_with_its_reason(text: bytes | None) -> None:
    with pytest.raises(ValueError) as refusal:
        read(text, FIELDS)
    assert str(refusal.value) == REFUSED[text]


@given(st.binary(max_size=40))
def test_bytes_of_any_kind_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        read(text, FIELDS)


@given(st.integers(0, len(TEXT) - 1), st.integers(0, 255))
def test_one_other_byte_is_another_value_or_a_refusal(place: int, byte: int) -> None:
    changed = TEXT[:place] + bytes([byte]) + TEXT[place + 1 :]
    try:
        assert written(read(changed, FIELDS)) == changed
    except ValueError as error:
        assert str(error).isascii()


@pytest.mark.parametrize(
    ("check", "possible", "impossible"),
    [
        (is_text, ["", "Zähler"], ["a\nb", "\ud800", 1, None, "a\x1b[2J"]),
        (is_flag, [True, False], [0, 1, None, "true"]),
        (is_topic, ["a.b_c-D"], ["", "..", "a" * 250, "a/b", None]),
        (whole(-1), [-1, 0, 2**31 - 1], [-2, 2**31, True, 1.0]),
    ],
)
def test_what_a_value_may_be(check, possible: list, impossible: list) -> None:
    assert all(map(check, possible))
    assert not any(map(check, impossible))

"""Waiting for a condition: its answer, or an error that says what was seen last."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from legacy_mm.audit.waiting import wait_until


def test_the_first_true_answer_is_returned() -> None:
    answers = iter([0, "", [], 7, 8])
    assert wait_until(lambda: next(answers), 10, "a number") == 7


@pytest.mark.parametrize("error", [OSError("away"), KafkaException("away")])
def test_an_error_that_may_pass_counts_as_not_yet(error: Exception) -> None:
    answers = iter([error, True])

    def condition() -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert wait_until(condition, 10, "an answer") is True


def test_the_end_names_what_was_waited_for_and_seen_last() -> None:
    def away() -> bool:
        raise OSError("away")

    with pytest.raises(TimeoutError, match=r"waited 0 s for it; last answer: \[\]"):
        wait_until(list, 0, "it")
    with pytest.raises(TimeoutError, match=r"waited 0 s for it; last error: OSError\('away'\)"):
        wait_until(away, 0, "it")


def test_any_other_exception_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        wait_until(lambda: 1 // 0, 10, "it")

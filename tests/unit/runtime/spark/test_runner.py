"""Why a Spark job failed, out of what py4j says."""

from __future__ import annotations

import pytest

from legacy_mm.runtime.spark.runner import reason_of

CALL = "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n: "
NEW = "org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown from the Python worker: "
OLD = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent"
    " failure: Lost task 0.0 in stage 1.0 (TID 1) (host executor driver): org.apache.spark.api.python.PythonException: "
)
TRACE = """Traceback (most recent call last):
  File "pyspark/worker.py", line 4327, in invoke_udf
    run_process()
"""
JAVA = "\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.read(PythonRunner.scala:1097)\n"


@pytest.mark.parametrize("begin", [NEW, OLD], ids=["4.3", "4.0"])
@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("ModuleNotFoundError: No module named 'kaboom'", "ModuleNotFoundError: No module named 'kaboom'"),
        ("    ^^^^^^^^^^^^^\nKeyError", "KeyError"),
        ("ssl.SSLError: one: a\ntwo: b", "ssl.SSLError: one: a"),
        ("legacy_mm.base.errors.HostError: no room: at all", "no room: at all"),
        (f"A: x\n\nDuring handling of the above exception, another exception occurred:\n\n{TRACE}B: y", "B: y"),
        ("E: " + "long " * 100, "E: " + "long " * 100),
    ],
)
def test_what_python_raised_in_the_worker(begin: str, raised: str, told: str) -> None:
    error = Exception(f"{CALL}{begin}{TRACE}{raised}\n SQLSTATE: 38000\n{JAVA}Driver stacktrace:\n{JAVA}")
    assert reason_of(error) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{CALL}java.io.IOException: gone\n{JAVA}Caused by: a.B: c\n{JAVA}", "java.io.IOException: gone"),
        ("one\ntwo", "one"),
        ("", "Exception"),
    ],
)
def test_else_what_java_or_py4j_says(text: str, told: str) -> None:
    assert reason_of(Exception(text)) == told

"""Partitions of topics as tables of Spark: `spark.read.format("legacy_mm")`. The one user of pyspark.sql and pyarrow.

What is read and how is named by the caller: a module with a function `columns(slice, secret) -> iterator of columns`.
Slices are plain JSON and hold no credential; the secret is what a task asks the driver for one with.
"""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from legacy_mm.base.errors import HostError
from legacy_mm.runtime.spark.runner import reason_of

FORMAT = "legacy_mm"
_SECRET = "secret"
"""Spark hides the values of options with this name wherever it shows options."""
_LEAST_SHUFFLE = 8
_LOOK_INTERVAL = 0.25
_SCHEMA = "side string, topic string, partition int, offset bigint, hour bigint, fingerprint bigint"
_ARROW = pyarrow.schema(
    [
        ("side", pyarrow.string()),
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("offset", pyarrow.int64()),
        ("hour", pyarrow.int64()),
        ("fingerprint", pyarrow.int64()),
    ]
)

Slice = Mapping[str, Any]


class TopicTables(DataSource):
    """Registers under `FORMAT`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return _SCHEMA

    def reader(self, schema: Any) -> DataSourceReader:
        return _SliceReader(self.options["module"], json.loads(self.options["slices"]), self.options[_SECRET])


class _SliceReader(DataSourceReader):
    def __init__(self, module: str, slices: Sequence[Slice], secret: str) -> None:
        self._module = module
        self._slices = slices
        self._secret = secret

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(each) for each in self._slices]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        for columns in importlib.import_module(self._module).columns(partition.value, self._secret):
            yield pyarrow.RecordBatch.from_pydict(columns, schema=_ARROW)


class Tables:
    """A view of all slices, which queries read anew each time, one Spark task for each slice."""

    def __init__(self, context: Any, module: str, slices: Sequence[Slice], secret: str, view: str) -> None:
        self._context = context
        self._session = SparkSession(context)
        self._session.conf.set("spark.sql.shuffle.partitions", str(max(_LEAST_SHUFFLE, len(slices))))
        self._session.dataSource.register(TopicTables)
        read = self._session.read.format(FORMAT).option("module", module).option(_SECRET, secret)
        read.option("slices", json.dumps(slices)).load().createOrReplaceTempView(view)

    def query(self, name: str, sql: str, watch: Callable[[int], None] | None) -> list[Mapping[str, Any]]:
        """Return the rows of a query. `watch` is called again and again with the number of slices read; None: no
        progress.

        Raise HostError.
        """
        self._context.setJobGroup(name, name)
        over = threading.Event()
        watcher = threading.Thread(target=self._tell, args=(name, watch, over), name="verify-progress", daemon=True)
        if watch is not None:
            watcher.start()
        try:
            return [row.asDict() for row in self._session.sql(sql).collect()]
        except Exception as error:
            raise HostError(f"the comparison ended: {reason_of(error)}") from error
        finally:
            over.set()
            if watch is not None:
                watcher.join()

    def _tell(self, name: str, watch: Callable[[int], None], over: threading.Event) -> None:
        tracker = self._context.statusTracker()
        while not over.wait(_LOOK_INTERVAL):
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(name)]
            stages = [stage for job in jobs if job is not None for stage in job.stageIds]
            reading = tracker.getStageInfo(min(stages)) if stages else None
            if reading is not None:
                watch(reading.numCompletedTasks)

"""Partitions of topics as tables of Spark: `spark.read.format("legacy_mm")`. The one user of pyspark.sql and pyarrow.

What is read and how is named by the caller: a module with a function `columns(slice) -> iterator of columns`. The
slices are plain JSON and hold no credential.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

FORMAT = "legacy_mm"
_LEAST_SHUFFLE = 8
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
        return _SliceReader(self.options["module"], json.loads(self.options["slices"]))


class _SliceReader(DataSourceReader):
    def __init__(self, module: str, slices: Sequence[Slice]) -> None:
        self._module = module
        self._slices = slices

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(each) for each in self._slices]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        for columns in importlib.import_module(self._module).columns(partition.value):
            yield pyarrow.RecordBatch.from_pydict(columns, schema=_ARROW)


def query(context: Any, module: str, slices: Sequence[Slice], view: str, sql: str) -> list[Mapping[str, Any]]:
    """Rows of a query over a view of all slices, one Spark task for each."""
    session = SparkSession(context)
    session.conf.set("spark.sql.shuffle.partitions", str(max(_LEAST_SHUFFLE, len(slices))))
    session.dataSource.register(TopicTables)
    table = session.read.format(FORMAT).option("module", module).option("slices", json.dumps(slices)).load()
    table.createOrReplaceTempView(view)
    return [row.asDict() for row in session.sql(sql).collect()]

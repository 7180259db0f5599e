"""The Java side of a handler jar, `HandlerBridge.java`, for the record class of the jar's release, or for transforms.

A batch crosses the border in numbers of native byte order and records of the wire:

- in, by memory that both sides see: base offset, base timestamp, the time now (long); where the records begin and end
  in that memory, the offset delta below which they are skipped, partition, kind of timestamp, the partition of records
  for which the handler names none, 1 if the timestamp deltas count, size of the topic's name (int); the name; records.
- out, as an array: where the first record lies that is not handled, counts (records handled, dropped), the offset delta
  of the last record looked at, number of topics, what failed (0: nothing), size of its text (int); the text. For each
  topic: size of its name; the name; the last timestamp (long); number of records, their bytes, 1 if any is for a
  partition that the handler named (int); in that case these partitions (long; -1: by key); records. Their timestamp
  deltas have the base of the source's, and each has the offset delta of its source.

Java stops after some hundred kilobytes, for its heap is small, and is called again for the rest. What a target is made
of is copied when it is answered: a handler may use its arrays again for the next record.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

CLASS = "legacy_mm.HandlerBridge"
THROWN, ILLEGAL_TOPIC, TOLERATED, STOPPED = 1, 2, 3, 4
"""The kind of a failure: by the handler, of a topic's name, which is the text, of a record that may be left out; a stop
before another try.
"""
_TIMESTAMP_TYPE = "import org.apache.kafka.common.record.TimestampType;\n"
_OF_RECORDS = "import kafka.consumer.BaseConsumerRecord;\nimport kafka.tools.MirrorMaker;\n"
_HANDLER = {
    "role": "MirrorMaker.MirrorMakerMessageHandler",
    "handler": """Class found = Class.forName(name, true, loader);
    Object made = argument == null
      ? found.getConstructor(new Class[0]).newInstance(new Object[0])
      : found.getConstructor(new Class[] { String.class }).newInstance(new Object[] { argument });
    this.handler = (MirrorMaker.MirrorMakerMessageHandler) made;""",
    "failure": "THROWN",
    "unplaced": "wish",
}
_KIND = """
  private static final TimestampType[] KINDS = new TimestampType[] {
    TimestampType.NO_TIMESTAMP_TYPE, TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME
  };
"""
_HEADERS = """
  private Headers headers() {
    RecordHeaders read = new RecordHeaders();
    for (int left = (int) this.number(); left > 0; left--) {
      String name = text(this.bytes());
      read.add(name, this.bytes());
    }
    return read;
  }

  private static byte[][] pairs(Headers headers) {
    Header[] all = headers.toArray();
    byte[][] pairs = new byte[2 * all.length][];
    for (int i = 0; i < all.length; i++) {
      pairs[2 * i] = utf8(all[i].key());
      pairs[2 * i + 1] = all[i].value();
    }
    return pairs;
  }
"""
_CONNECT_IMPORTS = """
import java.util.Collections;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
"""
_CONNECT_HEADERS = """
  private ConnectHeaders headers() {
    ConnectHeaders read = new ConnectHeaders();
    for (int left = (int) this.number(); left > 0; left--) {
      String name = text(this.bytes());
      read.addBytes(name, this.bytes());
    }
    return read;
  }

  private static byte[][] pairs(org.apache.kafka.common.header.Headers headers) {
    org.apache.kafka.common.header.Header[] all = headers.toArray();
    byte[][] pairs = new byte[2 * all.length][];
    for (int i = 0; i < all.length; i++) {
      pairs[2 * i] = utf8(all[i].key());
      pairs[2 * i + 1] = all[i].value();
    }
    return pairs;
  }
"""
_CONNECT_END = """
  public void stop() {
    this.handler.stop();
  }

  public void close() {
    this.handler.close();
  }
"""
_TIMED = "target.timestamp() == null ? now : ((Long) target.timestamp()).longValue()"
_PLACE = "topic, partition, baseOffset + offset, "
_TIME = "timestamp, KINDS[kind], "

BY_ARGUMENTS = {
    8: {
        **_HANDLER,
        "imports": _OF_RECORDS + "import org.apache.kafka.common.header.*;\n"
        "import org.apache.kafka.common.header.internals.RecordHeaders;\n" + _TIMESTAMP_TYPE,
        "record": f"new BaseConsumerRecord({_PLACE}{_TIME}key, value, this.headers())",
        "helpers": _KIND + _HEADERS,
        "pairs": "pairs(target.headers())",
        "timestamp": _TIMED,
    },
    7: {
        **_HANDLER,
        "imports": _OF_RECORDS + _TIMESTAMP_TYPE,
        "record": f"new BaseConsumerRecord({_PLACE}{_TIME}key, value)",
        "helpers": _KIND,
        "pairs": "new byte[0][]",
        "timestamp": _TIMED,
    },
    5: {
        **_HANDLER,
        "imports": _OF_RECORDS,
        "record": f"new BaseConsumerRecord({_PLACE}key, value)",
        "helpers": "",
        "pairs": "new byte[0][]",
        "timestamp": "now",
    },
}
"""The code for a release, by the number of arguments of BaseConsumerRecord's constructor."""


_CONNECT = {
    "imports": _CONNECT_IMPORTS,
    "role": "TransformChain",
    "handler": "this.handler = new TransformChain((List) argument, loader);",
    "record": "this.handler.record(topic, partition, baseOffset + offset, timestamp, key, value, this.headers())",
    "failure": "this.handler.failure(error)",
    "unplaced": "-1",
    "helpers": _CONNECT_HEADERS + _CONNECT_END,
    "pairs": "pairs(target.headers())",
    "timestamp": _TIMED,
}


def source(arguments: int) -> str:
    """Return the bridge for 0.11 to 3.9 (8 arguments), 0.10 (7) or 0.9 (5)."""
    return _filled(BY_ARGUMENTS[arguments])


def transform_source() -> str:
    """Return the bridge for transforms of Connect."""
    return f"{_filled(_CONNECT)}\n{_java('TransformChain')}"


def _filled(code: Mapping[str, str]) -> str:
    text = _java("HandlerBridge")
    for name, piece in code.items():
        text = text.replace(f"/*{name}*/", piece)
    return text


def _java(name: str) -> str:
    return (files("legacy_mm.handlers") / f"{name}.java").read_text(encoding="utf-8")

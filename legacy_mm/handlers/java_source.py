"""The Java side of a handler jar, `HandlerBridge.java`, for the record class of the jar's release.

A batch crosses the border as bytes in native byte order, field by field; in by memory that both sides see, out by an
array:

- in: counts (records, topics, headers), sizes of topics, then per record topic, partition, kind of timestamp, size of
  key, size of value, number of headers, then sizes of names and of values of headers (all int; size -1 is null);
  offsets and timestamps (long); the bytes of all that has a size.
- out: counts (records handled, targets, topics, headers, size of the error or -1) and which columns are left out (the
  sum of the numbers below), `ends`, sizes of topics, then per target topic, partition, size of key, size of value,
  number of headers, sizes of names and of values (int); timestamps (long; -1: none); the bytes, column by column.
  Left out are partitions if no target has one, and keys, values, timestamps if each target's is its source record's:
  most handlers change none of them, and Python has them already.

What a target is made of is copied when it is answered: a handler may use its arrays again for the next record.
"""

from __future__ import annotations

from importlib.resources import files

CLASS = "legacy_mm.HandlerBridge"
NO_PARTITIONS, SAME_KEYS, SAME_VALUES, SAME_TIMESTAMPS = 1, 2, 4, 8
"""Columns that an answer leaves out."""
_TIMESTAMP_TYPE = "import org.apache.kafka.common.record.TimestampType;\n"
_KIND = """
  private static final TimestampType[] KINDS = new TimestampType[] {
    TimestampType.NO_TIMESTAMP_TYPE, TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME
  };
"""
_HEADERS = """
  private static Headers headers(String[] names, byte[][] values, int begin, int count) {
    RecordHeaders made = new RecordHeaders();
    for (int i = begin; i < begin + count; i++) made.add(names[i], values[i]);
    return made;
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
_TIMED = "target.timestamp() == null ? -1L : ((Long) target.timestamp()).longValue()"
_PLACE = "topics[topic[i]], partition[i], offset[i], "
_TIME = "timestamp[i], KINDS[kind[i]], "

# By the number of arguments of BaseConsumerRecord's constructor: what the release has.
_BY_ARGUMENTS = {
    8: {
        "imports": "import org.apache.kafka.common.header.*;\n"
        "import org.apache.kafka.common.header.internals.RecordHeaders;\n" + _TIMESTAMP_TYPE,
        "record": f"new BaseConsumerRecord({_PLACE}{_TIME}keys[i], values[i], "
        "headers(names, headerValues, header, headerCount[i]))",
        "helpers": _KIND + _HEADERS,
        "pairs": "pairs(target.headers())",
        "timestamp": _TIMED,
    },
    7: {
        "imports": _TIMESTAMP_TYPE,
        "record": f"new BaseConsumerRecord({_PLACE}{_TIME}keys[i], values[i])",
        "helpers": _KIND,
        "pairs": "new byte[0][]",
        "timestamp": _TIMED,
    },
    5: {
        "imports": "",
        "record": f"new BaseConsumerRecord({_PLACE}keys[i], values[i])",
        "helpers": "",
        "pairs": "new byte[0][]",
        "timestamp": "-1L",
    },
}


def source(arguments: int) -> str:
    """Return the bridge for 0.11 to 3.9 (8 arguments), 0.10 (7) or 0.9 (5)."""
    text = (files("legacy_mm.handlers") / "HandlerBridge.java").read_text(encoding="utf-8")
    for name, code in _BY_ARGUMENTS[arguments].items():
        text = text.replace(f"/*{name}*/", code)
    return text

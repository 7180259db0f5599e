"""The few signatures of Kafka's classes that `HandlerBridge.java` uses: enough to compile it where no Kafka is.

A handler's jar brings the classes themselves, of its own release.
"""

from __future__ import annotations

_HEADER = "package org.apache.kafka.common.header; public interface Header { String key(); byte[] value(); }"
_HEADERS = "package org.apache.kafka.common.header; public interface Headers { Header[] toArray(); }"
_READ_HEADERS = """
package org.apache.kafka.common.header.internals;
import org.apache.kafka.common.header.*;
public class RecordHeaders implements Headers {
  public Headers add(String name, byte[] value) { return null; }
  public Header[] toArray() { return null; }
}
"""
_KINDS = """
package org.apache.kafka.common.record;
public class TimestampType {
  public static final TimestampType NO_TIMESTAMP_TYPE = null, CREATE_TIME = null, LOG_APPEND_TIME = null;
}
"""
_TARGET = """
package org.apache.kafka.clients.producer;
public class ProducerRecord {{
  public String topic() {{ return null; }}
  public Integer partition() {{ return null; }}
  public Object key() {{ return null; }}
  public Object value() {{ return null; }}
  {more}
}}
"""
_TIME = "public Long timestamp() { return null; }"
_TARGET_HEADERS = "public org.apache.kafka.common.header.Headers headers() { return null; }"
_RECORD = """
package kafka.consumer;
public class BaseConsumerRecord {{
  public BaseConsumerRecord(String topic, int partition, long offset, {more}) {{}}
}}
"""
_CONTENT = "byte[] key, byte[] value"
_TIMED = f"long timestamp, org.apache.kafka.common.record.TimestampType kind, {_CONTENT}"
_HANDLER = """
package kafka.tools;
public class MirrorMaker {
  public interface MirrorMakerMessageHandler { java.util.List handle(kafka.consumer.BaseConsumerRecord record); }
}
"""
SIGNATURES = {
    8: (
        *(_HEADER, _HEADERS, _READ_HEADERS, _KINDS),
        _TARGET.format(more=_TIME + _TARGET_HEADERS),
        _RECORD.format(more=f"{_TIMED}, org.apache.kafka.common.header.Headers headers"),
        _HANDLER,
    ),
    7: (_KINDS, _TARGET.format(more=_TIME), _RECORD.format(more=_TIMED), _HANDLER),
    5: (_TARGET.format(more=""), _RECORD.format(more=_CONTENT), _HANDLER),
}
"""By the number of arguments of BaseConsumerRecord's constructor; each needs those before it."""

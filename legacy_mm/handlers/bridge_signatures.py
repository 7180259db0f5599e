"""The few signatures of Kafka's classes that our bridges use: enough to compile them where no Kafka is.

A handler's jar brings the classes themselves, of its own release.
"""

from __future__ import annotations

_HEADER = "package org.apache.kafka.common.header; public interface Header { String key(); byte[] value(); }"
_HEADERS = "package org.apache.kafka.common.header; public interface Headers extends Iterable { Header[] toArray(); }"
_READ_HEADERS = """
package org.apache.kafka.common.header.internals;
import org.apache.kafka.common.header.*;
public class RecordHeaders implements Headers {
  public Headers add(String name, byte[] value) { return null; }
  public Header[] toArray() { return null; }
  public java.util.Iterator iterator() { return null; }
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
_CONNECT = "package org.apache.kafka.connect."
_CONFIGURE = "void configure(java.util.Map settings);"
_CONFIG = "org.apache.kafka.common.config.ConfigDef config();"
_CONFIG_DEF = """
package org.apache.kafka.common.config;
public class ConfigDef { public java.util.Map parse(java.util.Map settings) { return null; } }
"""
_SCHEMA = f"""
{_CONNECT}data;
public interface Schema {{
  public static class Type {{ public static final Type BYTES = null; }}
  Schema BYTES_SCHEMA = null;
  Schema OPTIONAL_BYTES_SCHEMA = null;
  Type type();
}}
"""
_HEADER_OF_CONNECT = f"""
{_CONNECT}header;
public interface Header {{ String key(); org.apache.kafka.connect.data.Schema schema(); Object value(); }}
"""
_CONNECT_HEADERS = f"""
{_CONNECT}header;
public class ConnectHeaders implements Headers {{
  public java.util.Iterator iterator() {{ return null; }}
  public Headers addBytes(String name, byte[] value) {{ return null; }}
}}
"""
_CONNECT_RECORD = f"""
{_CONNECT}connector;
import org.apache.kafka.connect.data.Schema;
public abstract class ConnectRecord {{
  public String topic() {{ return null; }}
  public Integer kafkaPartition() {{ return null; }}
  public Schema keySchema() {{ return null; }}
  public Object key() {{ return null; }}
  public Schema valueSchema() {{ return null; }}
  public Object value() {{ return null; }}
  public Long timestamp() {{ return null; }}
  public org.apache.kafka.connect.header.Headers headers() {{ return null; }}
}}
"""
_SOURCE_RECORD = f"""
{_CONNECT}source;
import org.apache.kafka.connect.data.Schema;
public class SourceRecord extends org.apache.kafka.connect.connector.ConnectRecord {{
  public SourceRecord(java.util.Map place, java.util.Map position, String topic, Integer partition, Schema keySchema,
      Object key, Schema valueSchema, Object value, Long timestamp, Iterable headers) {{}}
}}
"""
_MADE_TARGET = """
package org.apache.kafka.clients.producer;
public class ProducerRecord {
  public ProducerRecord(String topic, Integer partition, Long timestamp, Object key, Object value, Iterable headers) {}
  public String topic() { return null; }
  public Integer partition() { return null; }
  public Long timestamp() { return null; }
  public Object key() { return null; }
  public Object value() { return null; }
  public org.apache.kafka.common.header.Headers headers() { return null; }
}
"""
_CONVERTERS = (
    f"""
{_CONNECT}storage;
public interface Converter {{
  void configure(java.util.Map settings, boolean isKey);
  byte[] fromConnectData(String topic, org.apache.kafka.common.header.Headers headers,
      org.apache.kafka.connect.data.Schema schema, Object value);
}}
""",
    f"""
{_CONNECT}storage;
public interface HeaderConverter extends java.io.Closeable {{
  {_CONFIGURE}
  byte[] fromConnectHeader(String topic, String name, org.apache.kafka.connect.data.Schema schema, Object value);
}}
""",
)
_RECORD_OF_CONNECT = "org.apache.kafka.connect.connector.ConnectRecord"
_TRANSFORMS = (
    f"""
{_CONNECT}transforms;
public interface Transformation extends AutoCloseable {{
  {_CONFIGURE}
  {_CONFIG}
  {_RECORD_OF_CONNECT} apply({_RECORD_OF_CONNECT} record);
}}
""",
    f"""
{_CONNECT}transforms.predicates;
public interface Predicate extends AutoCloseable {{
  {_CONFIGURE}
  {_CONFIG}
  boolean test({_RECORD_OF_CONNECT} record);
}}
""",
)
_RETRIABLE = f"{_CONNECT}errors; public class RetriableException extends RuntimeException {{}}"
CONNECT_SIGNATURES = (
    *(_HEADER, _HEADERS, _READ_HEADERS, _MADE_TARGET, _CONFIG_DEF, _RETRIABLE),
    *(_SCHEMA, _HEADER_OF_CONNECT, f"{_CONNECT}header; public interface Headers extends Iterable {{}}"),
    *(_CONNECT_HEADERS, _CONNECT_RECORD, _SOURCE_RECORD),
    *_CONVERTERS,
    *_TRANSFORMS,
)
"""Signatures for the bridge of Connect's transforms; each needs those before it."""

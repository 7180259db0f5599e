"""The Java side of a handler jar: source that Janino compiles at run time, for the record class of the jar's release.

A batch crosses the border as bytes in native byte order, field by field; in by memory that both sides see, out by an
array:

- in: counts (records, topics, headers), sizes of topics, then per record topic, partition, kind of timestamp, size of
  key, size of value, number of headers, then sizes of names and of values of headers (all int; size -1 is null);
  offsets and timestamps (long); the bytes of all that has a size.
- out: counts (records handled, targets, topics, headers, size of the error or -1), `ends`, sizes of topics, then per
  target topic, partition (-1: none), size of key, size of value, number of headers, sizes of names and of values
  (int); timestamps (long; -1: none); the bytes.

Style: Java 1.4, which Janino takes for sure: no generics, no for-each.
"""

from __future__ import annotations

CLASS = "legacy_mm.HandlerBridge"
_SOURCE = """
package legacy_mm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;
{imports}
public final class HandlerBridge {
  private static final byte[] NOTHING = new byte[0];
  private final MirrorMaker.MirrorMakerMessageHandler handler;

  public HandlerBridge(String name, String argument, ClassLoader loader) throws Throwable {
    Class found = Class.forName(name, true, loader);
    Object made = argument == null
      ? found.getConstructor(new Class[0]).newInstance(new Object[0])
      : found.getConstructor(new Class[] { String.class }).newInstance(new Object[] { argument });
    this.handler = (MirrorMaker.MirrorMakerMessageHandler) made;
  }

  public byte[] run(ByteBuffer batch) {
    ByteBuffer in = ((ByteBuffer) batch.duplicate()).order(ByteOrder.nativeOrder());
    int count = in.getInt();
    int[] topicSizes = new int[in.getInt()];
    int[] nameSizes = new int[in.getInt()];
    int[] valueSizes = new int[nameSizes.length];
    int[] topic = new int[count], partition = new int[count], kind = new int[count];
    int[] keySize = new int[count], valueSize = new int[count], headerCount = new int[count];
    read(in, topicSizes); read(in, topic); read(in, partition); read(in, kind);
    read(in, keySize); read(in, valueSize); read(in, headerCount); read(in, nameSizes); read(in, valueSizes);
    long[] offset = new long[count], timestamp = new long[count];
    read(in, offset); read(in, timestamp);
    String[] topics = strings(in, topicSizes);
    byte[][] keys = blobs(in, keySize), values = blobs(in, valueSize);
    String[] names = strings(in, nameSizes);
    byte[][] headerValues = blobs(in, valueSizes);
    Outcome out = new Outcome(count);
    int header = 0;
    try {
      for (int i = 0; i < count; i++) {
        BaseConsumerRecord record = {record};
        header += headerCount[i];
        List made = this.handler.handle(record);
        if (made == null) throw new NullPointerException("handle answered null");
        out.add(made);
      }
    } catch (Throwable error) {
      out.error = error.toString();
    }
    return out.bytes();
  }

  private static void read(ByteBuffer in, int[] to) {
    in.asIntBuffer().get(to);
    in.position(in.position() + 4 * to.length);
  }

  private static void read(ByteBuffer in, long[] to) {
    in.asLongBuffer().get(to);
    in.position(in.position() + 8 * to.length);
  }

  private static byte[][] blobs(ByteBuffer in, int[] sizes) {
    byte[][] found = new byte[sizes.length][];
    for (int i = 0; i < sizes.length; i++) {
      if (sizes[i] < 0) continue;
      found[i] = new byte[sizes[i]];
      in.get(found[i]);
    }
    return found;
  }

  private static String[] strings(ByteBuffer in, int[] sizes) {
    String[] found = new String[sizes.length];
    byte[][] texts = blobs(in, sizes);
    for (int i = 0; i < sizes.length; i++) found[i] = text(texts[i]);
    return found;
  }

  private static String text(byte[] utf8) {
    return new String(utf8, java.nio.charset.StandardCharsets.UTF_8);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  {helpers}

  private static final class Outcome {
    String error;
    private final int[] ends;
    private int handled;
    private final List targets = new ArrayList();
    private final List headers = new ArrayList();
    private final HashMap numbers = new HashMap();
    private final List topics = new ArrayList();
    private long size;

    Outcome(int count) {
      this.ends = new int[count];
      this.targets.clear();
    }

    /** All of a source record's targets or, when one of them is not of bytes, none. */
    void add(List made) {
      for (int i = 0; i < made.size(); i++) {
        ProducerRecord target = (ProducerRecord) made.get(i);
        byte[] key = (byte[]) target.key();
        byte[] value = (byte[]) target.value();
        this.size += (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
      }
      for (int i = 0; i < made.size(); i++) {
        ProducerRecord target = (ProducerRecord) made.get(i);
        byte[][] pairs = {pairs};
        for (int j = 0; j < pairs.length; j++) this.size += 4 + (pairs[j] == null ? 0 : pairs[j].length);
        if (!this.numbers.containsKey(target.topic())) {
          this.numbers.put(target.topic(), Integer.valueOf(this.topics.size()));
          byte[] name = utf8(target.topic());
          this.topics.add(name);
          this.size += 4 + name.length;
        }
        this.targets.add(target);
        this.headers.add(pairs);
      }
      this.ends[this.handled++] = this.targets.size();
    }

    byte[] bytes() {
      int count = this.targets.size(), pairCount = 0;
      byte[] said = this.error == null ? NOTHING : utf8(this.error);
      for (int i = 0; i < count; i++) pairCount += ((byte[][]) this.headers.get(i)).length;
      byte[] all = new byte[(int) (20 + 4L * this.handled + 28L * count + this.size + said.length)];
      ByteBuffer out = ByteBuffer.wrap(all).order(ByteOrder.nativeOrder());
      out.putInt(this.handled).putInt(count).putInt(this.topics.size()).putInt(pairCount / 2);
      out.putInt(this.error == null ? -1 : said.length);
      for (int i = 0; i < this.handled; i++) out.putInt(this.ends[i]);
      for (int i = 0; i < this.topics.size(); i++) out.putInt(((byte[]) this.topics.get(i)).length);
      ProducerRecord[] sent = (ProducerRecord[]) this.targets.toArray(new ProducerRecord[count]);
      for (int i = 0; i < count; i++) out.putInt(((Integer) this.numbers.get(sent[i].topic())).intValue());
      for (int i = 0; i < count; i++) {
        out.putInt(sent[i].partition() == null ? -1 : ((Integer) sent[i].partition()).intValue());
      }
      for (int i = 0; i < count; i++) putSize(out, (byte[]) sent[i].key());
      for (int i = 0; i < count; i++) putSize(out, (byte[]) sent[i].value());
      for (int i = 0; i < count; i++) out.putInt(((byte[][]) this.headers.get(i)).length / 2);
      for (int part = 0; part < 2; part++) putPairs(out, part, true);
      for (int i = 0; i < count; i++) {
        ProducerRecord target = sent[i];
        out.putLong({timestamp});
      }
      for (int i = 0; i < this.topics.size(); i++) out.put((byte[]) this.topics.get(i));
      for (int i = 0; i < count; i++) putBytes(out, (byte[]) sent[i].key());
      for (int i = 0; i < count; i++) putBytes(out, (byte[]) sent[i].value());
      for (int part = 0; part < 2; part++) putPairs(out, part, false);
      out.put(said);
      return all;
    }

    private void putPairs(ByteBuffer out, int part, boolean sizes) {
      for (int i = 0; i < this.headers.size(); i++) {
        byte[][] pairs = (byte[][]) this.headers.get(i);
        for (int j = part; j < pairs.length; j += 2) {
          if (sizes) putSize(out, pairs[j]); else putBytes(out, pairs[j]);
        }
      }
    }

    private static void putSize(ByteBuffer out, byte[] bytes) {
      out.putInt(bytes == null ? -1 : bytes.length);
    }

    private static void putBytes(ByteBuffer out, byte[] bytes) {
      if (bytes != null) out.put(bytes);
    }
  }
}
"""
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
    """The bridge for 0.11 to 3.9 (8 arguments), 0.10 (7) or 0.9 (5)."""
    text = _SOURCE
    for name, code in _BY_ARGUMENTS[arguments].items():
        text = text.replace(f"{{{name}}}", code)
    return text

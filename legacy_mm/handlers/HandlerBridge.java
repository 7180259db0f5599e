/*
 * The Java side of a handler jar. Janino compiles it at run time, for the record class of the jar's release:
 * java_source.py fills in what stands between the signs of a comment. It also says how a batch crosses the border.
 *
 * Style: Java 1.4, which Janino takes for sure: no generics, no for-each.
 */
package legacy_mm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;
/*imports*/
public final class HandlerBridge {
  private final MirrorMaker.MirrorMakerMessageHandler handler;
  private final Outcome out = new Outcome();

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
    int keyAt = in.position();
    byte[][] keys = blobs(in, keySize);
    int valueAt = in.position();
    byte[][] values = blobs(in, valueSize);
    String[] names = strings(in, nameSizes);
    byte[][] headerValues = blobs(in, valueSizes);
    this.out.begin(in);
    int header = 0;
    for (int i = 0; i < count; i++) {
      BaseConsumerRecord record = /*record*/;
      header += headerCount[i];
      List made;
      try {
        made = this.handler.handle(record);
        check(made);
      } catch (Throwable error) {
        this.out.error = error.toString();
        break;
      }
      this.out.add(made, keys[i], keyAt, values[i], valueAt, timestamp[i]);
      keyAt += Math.max(0, keySize[i]);
      valueAt += Math.max(0, valueSize[i]);
    }
    return this.out.bytes();
  }

  private static void check(List made) {
    if (made == null) throw new NullPointerException("handle answered null");
    for (int i = 0; i < made.size(); i++) {
      ProducerRecord target = (ProducerRecord) made.get(i);
      byte[] bytes = (byte[]) target.key();
      bytes = (byte[]) target.value();
    }
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

  /*helpers*/

  /** What was made of a batch, as columns; they keep their room for the next one. */
  private static final class Outcome {
    String error;
    private ByteBuffer in;
    private int handled, count, pairCount, leftOut;
    private final HashMap numbers = new HashMap();
    private final Column counts = new Column(), said = new Column();
    private final Column ends = new Column(), topicSizes = new Column(), topics = new Column();
    private final Column topicNumbers = new Column(), partitions = new Column(), timestamps = new Column();
    private final Column keySizes = new Column(), valueSizes = new Column(), headerCounts = new Column();
    private final Column nameSizes = new Column(), textSizes = new Column();
    private final Column keys = new Column(), values = new Column(), names = new Column(), texts = new Column();

    private final Column[] all = new Column[] {
      this.counts, this.ends, this.topicSizes, this.topicNumbers, this.partitions, this.keySizes, this.valueSizes,
      this.headerCounts, this.nameSizes, this.textSizes, this.timestamps, this.topics, this.keys, this.values,
      this.names, this.texts, this.said
    };

    void begin(ByteBuffer in) {
      this.in = in;
      this.error = null;
      this.handled = this.count = this.pairCount = 0;
      this.leftOut = 15;
      this.numbers.clear();
      for (int i = 0; i < this.all.length; i++) this.all[i].clear();
    }

    void add(List made, byte[] key, int keyAt, byte[] value, int valueAt, long timestamp) {
      for (int i = 0; i < made.size(); i++) {
        ProducerRecord target = (ProducerRecord) made.get(i);
        long time = /*timestamp*/;
        if (target.partition() != null) this.leftOut &= ~1;
        if (!this.same((byte[]) target.key(), key, keyAt)) this.leftOut &= ~2;
        if (!this.same((byte[]) target.value(), value, valueAt)) this.leftOut &= ~4;
        if (time < 0 || time != timestamp) this.leftOut &= ~8;
        this.topicNumbers.put(this.number(target.topic()));
        this.partitions.put(target.partition() == null ? -1 : ((Integer) target.partition()).intValue());
        this.timestamps.put(time);
        put((byte[]) target.key(), this.keySizes, this.keys);
        put((byte[]) target.value(), this.valueSizes, this.values);
        byte[][] pairs = /*pairs*/;
        this.headerCounts.put(pairs.length / 2);
        for (int j = 0; j < pairs.length; j += 2) {
          put(pairs[j], this.nameSizes, this.names);
          put(pairs[j + 1], this.textSizes, this.texts);
        }
        this.pairCount += pairs.length / 2;
      }
      this.count += made.size();
      this.ends.put(this.count);
      this.handled++;
    }

    /** Whether it is the source's own array, and still as it came. */
    private boolean same(byte[] theirs, byte[] own, int at) {
      if (theirs != own) return false;
      if (own == null) return true;
      this.in.limit(at + own.length);
      this.in.position(at);
      return this.in.equals(ByteBuffer.wrap(own));
    }

    private int number(String topic) {
      Integer known = (Integer) this.numbers.get(topic);
      if (known != null) return known.intValue();
      put(utf8(topic), this.topicSizes, this.topics);
      this.numbers.put(topic, Integer.valueOf(this.numbers.size()));
      return this.numbers.size() - 1;
    }

    byte[] bytes() {
      if (this.error != null) this.said.put(utf8(this.error));
      this.counts.put(this.handled); this.counts.put(this.count); this.counts.put(this.numbers.size());
      this.counts.put(this.pairCount); this.counts.put(this.error == null ? -1 : this.said.size());
      this.counts.put(this.leftOut);
      if ((this.leftOut & 1) != 0) this.partitions.clear();
      if ((this.leftOut & 2) != 0) { this.keySizes.clear(); this.keys.clear(); }
      if ((this.leftOut & 4) != 0) { this.valueSizes.clear(); this.values.clear(); }
      if ((this.leftOut & 8) != 0) this.timestamps.clear();
      int size = 0;
      for (int i = 0; i < this.all.length; i++) size += this.all[i].size();
      ByteBuffer out = ByteBuffer.allocate(size);
      for (int i = 0; i < this.all.length; i++) this.all[i].into(out);
      return out.array();
    }

    private static void put(byte[] bytes, Column sizes, Column data) {
      sizes.put(bytes == null ? -1 : bytes.length);
      if (bytes != null) data.put(bytes);
    }
  }

  /** Bytes that grow. */
  private static final class Column {
    private ByteBuffer data = ByteBuffer.allocate(1024).order(ByteOrder.nativeOrder());

    void put(int number) { this.room(4).putInt(number); }

    void put(long number) { this.room(8).putLong(number); }

    void put(byte[] bytes) { this.room(bytes.length).put(bytes); }

    void clear() { this.data.clear(); }

    int size() { return this.data.position(); }

    void into(ByteBuffer out) { out.put(this.data.array(), 0, this.data.position()); }

    private ByteBuffer room(int size) {
      if (this.data.remaining() < size) {
        int used = this.data.position();
        ByteBuffer larger = ByteBuffer.allocate(2 * (used + size)).order(ByteOrder.nativeOrder());
        this.data = larger.put(this.data.array(), 0, used);
      }
      return this.data;
    }
  }
}

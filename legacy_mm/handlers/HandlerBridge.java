/*
 * The Java side of a handler jar, or of Connect's transforms. Janino compiles it, ahead or at run time, for the record
 * class of the jar's release: java_source.py fills in what stands between the signs of a comment. It also says how a
 * batch crosses the border.
 *
 * Style: Java 1.4, which Janino takes for sure: no generics, no for-each.
 */
package legacy_mm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
/*imports*/
public final class HandlerBridge {
  private static final int PORTION = 256 << 10;
  private static final int KEPT_TOPICS = 16;
  private static final int THROWN = 1, ILLEGAL_TOPIC = 2;
  private static final int LONGEST_TOPIC = 249;

  private final /*role*/ handler;
  private final boolean legalTopics;
  /** Topic -> Records, which keep their room for the next portion. */
  private final HashMap made = new HashMap();
  private final ArrayList topics = new ArrayList();
  private final Column out = new Column();
  private ByteBuffer in;
  private int at;
  private int failure;
  private String error;

  public HandlerBridge(String name, Object argument, boolean legalTopics, ClassLoader loader) throws Throwable {
    /*handler*/
    this.legalTopics = legalTopics;
  }

  public byte[] run(ByteBuffer batch) {
    this.in = ((ByteBuffer) batch.duplicate()).order(ByteOrder.nativeOrder());
    long baseOffset = this.in.getLong(), baseTimestamp = this.in.getLong(), now = this.in.getLong();
    int begin = this.in.getInt(), end = this.in.getInt(), skipBelow = this.in.getInt();
    int partition = this.in.getInt(), kind = this.in.getInt(), wish = this.in.getInt();
    boolean ownTimes = this.in.getInt() != 0;
    byte[] name = new byte[this.in.getInt()];
    this.in.get(name);
    String topic = text(name);
    if (this.made.size() > KEPT_TOPICS) this.made.clear();
    this.topics.clear();
    this.failure = 0;
    this.error = null;
    int handled = 0, dropped = 0, offset = 0, stop = Math.min(end, begin + PORTION);
    this.at = begin;
    while (this.at < end && (this.at < stop || handled == 0)) {
      int first = this.at;
      int size = (int) this.number();
      int next = this.at + size;
      this.at++;
      long delta = this.number();
      offset = (int) this.number();
      if (offset >= skipBelow) {
        byte[] key = this.bytes(), value = this.bytes();
        long timestamp = ownTimes ? baseTimestamp + delta : baseTimestamp;
        List targets;
        try {
          targets = this.handler.handle(/*record*/);
          this.check(targets);
        } catch (Throwable error) {
          this.failure = /*failure*/;
          this.error = error.toString();
          targets = null;
        }
        if (this.failure != 0) {
          this.at = first;
          break;
        }
        if (targets.isEmpty()) dropped++;
        for (int i = 0; i < targets.size(); i++) {
          ProducerRecord target = (ProducerRecord) targets.get(i);
          this.records(target.topic()).add(target, offset, baseTimestamp, now, wish);
        }
        handled++;
      }
      this.at = next;
    }
    return this.answer(handled, dropped, offset);
  }

  /** Makes room for the topics of the targets; throws for what is no record of bytes. */
  private void check(List targets) {
    if (targets == null) throw new NullPointerException("handle answered null");
    for (int i = 0; i < targets.size() && this.failure == 0; i++) {
      ProducerRecord target = (ProducerRecord) targets.get(i);
      byte[] bytes = (byte[]) target.key();
      bytes = (byte[]) target.value();
      if (this.legalTopics && this.made.get(target.topic()) == null && !isLegal(target.topic())) {
        this.failure = ILLEGAL_TOPIC;
        this.error = target.topic();
      }
    }
  }

  private static boolean isLegal(String topic) {
    for (int i = 0; i < topic.length(); i++) {
      char letter = topic.charAt(i);
      boolean known = letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9';
      if (!known && letter != '.' && letter != '_' && letter != '-') return false;
    }
    return topic.length() > 0 && topic.length() <= LONGEST_TOPIC && !topic.equals(".") && !topic.equals("..");
  }

  private Records records(String topic) {
    Records found = (Records) this.made.get(topic);
    if (found == null) {
      found = new Records();
      this.made.put(topic, found);
    }
    if (found.count == 0) this.topics.add(topic);
    return found;
  }

  private byte[] answer(int handled, int dropped, int offset) {
    Column out = this.out;
    out.clear();
    byte[] error = this.error == null ? new byte[0] : utf8(this.error);
    out.put(this.at); out.put(handled); out.put(dropped); out.put(offset);
    out.put(this.topics.size()); out.put(this.failure); out.put(error.length);
    out.put(error);
    for (int i = 0; i < this.topics.size(); i++) {
      byte[] name = utf8((String) this.topics.get(i));
      out.put(name.length);
      out.put(name);
      ((Records) this.made.get(this.topics.get(i))).into(out);
    }
    return out.bytes();
  }

  /** Reads a varint. */
  private long number() {
    long raw = 0;
    int shift = 0;
    byte next;
    do {
      next = this.in.get(this.at++);
      raw |= (next & 0x7FL) << shift;
      shift += 7;
    } while (next < 0);
    return (raw >>> 1) ^ -(raw & 1);
  }

  private byte[] bytes() {
    int size = (int) this.number();
    if (size < 0) return null;
    byte[] found = new byte[size];
    this.in.position(this.at);
    this.in.get(found);
    this.at += size;
    return found;
  }

  private static String text(byte[] utf8) {
    return new String(utf8, java.nio.charset.StandardCharsets.UTF_8);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  /*helpers*/

  /** The records of one topic, as the wire has them, and the partition that each is for. */
  private static final class Records {
    private final Column data = new Column(), wishes = new Column();
    private int count;
    private boolean wished;
    private long newest = Long.MIN_VALUE;

    void add(ProducerRecord target, int offset, long baseTimestamp, long now, int wish) {
      byte[] key = (byte[]) target.key(), value = (byte[]) target.value();
      byte[][] pairs = /*pairs*/;
      long time = /*timestamp*/;
      int partition = target.partition() == null ? /*unplaced*/ : ((Integer) target.partition()).intValue();
      long delta = time - baseTimestamp;
      int size = 1 + sizeOf(delta) + sizeOf(offset) + sizeOf(key) + sizeOf(value) + sizeOf(pairs.length / 2);
      for (int i = 0; i < pairs.length; i++) size += sizeOf(pairs[i]);
      this.data.room(size + 5);
      this.data.number(size);
      this.data.number(0);
      this.data.number(delta);
      this.data.number(offset);
      this.data.field(key);
      this.data.field(value);
      this.data.number(pairs.length / 2);
      for (int i = 0; i < pairs.length; i++) this.data.field(pairs[i]);
      this.wishes.put((long) partition);
      this.wished |= partition >= 0;
      this.newest = Math.max(this.newest, time);
      this.count++;
    }

    void into(Column out) {
      out.put(this.newest);
      out.put(this.count);
      out.put(this.data.size());
      out.put(this.wished ? 1 : 0);
      if (this.wished) out.put(this.wishes);
      out.put(this.data);
      this.data.clear();
      this.wishes.clear();
      this.count = 0;
      this.wished = false;
      this.newest = Long.MIN_VALUE;
    }

    private static int sizeOf(long number) {
      long raw = (number << 1) ^ (number >> 63);
      return 1 + (63 - Long.numberOfLeadingZeros(raw | 1)) / 7;
    }

    private static int sizeOf(byte[] bytes) {
      return bytes == null ? 1 : sizeOf((long) bytes.length) + bytes.length;
    }
  }

  /** Bytes that grow. */
  private static final class Column {
    private byte[] data = new byte[1024];
    private int size;

    void room(int more) {
      if (this.data.length - this.size >= more) return;
      byte[] larger = new byte[2 * (this.size + more)];
      System.arraycopy(this.data, 0, larger, 0, this.size);
      this.data = larger;
    }

    void clear() { this.size = 0; }

    int size() { return this.size; }

    byte[] bytes() {
      byte[] all = new byte[this.size];
      System.arraycopy(this.data, 0, all, 0, this.size);
      return all;
    }

    void put(int number) {
      this.room(4);
      for (int shift = 0; shift < 32; shift += 8) this.data[this.size++] = (byte) (number >> shift);
    }

    void put(long number) {
      this.room(8);
      for (int shift = 0; shift < 64; shift += 8) this.data[this.size++] = (byte) (number >> shift);
    }

    void put(byte[] bytes) { this.put(bytes, bytes.length); }

    void put(Column other) { this.put(other.data, other.size); }

    private void put(byte[] bytes, int count) {
      this.room(count);
      System.arraycopy(bytes, 0, this.data, this.size, count);
      this.size += count;
    }

    /** Writes a varint; there is room for it. */
    void number(long number) {
      long raw = (number << 1) ^ (number >> 63);
      while ((raw & ~0x7FL) != 0) {
        this.data[this.size++] = (byte) (raw & 0x7F | 0x80);
        raw >>>= 7;
      }
      this.data[this.size++] = (byte) raw;
    }

    /** Writes a field with its length; there is room for it. */
    void field(byte[] bytes) {
      this.number(bytes == null ? -1 : bytes.length);
      if (bytes == null) return;
      System.arraycopy(bytes, 0, this.data, this.size, bytes.length);
      this.size += bytes.length;
    }
  }
}

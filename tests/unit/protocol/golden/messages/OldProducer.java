import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Writes what the Java client of an old release writes, to partition 0: words are the broker, the topic, the codec. */
public class OldProducer {
    static final long START = 1_700_000_000_000L;

    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("compression.type", words[2]);
        settings.put("linger.ms", "1000");
        settings.put("batch.size", "1000000");
        settings.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        settings.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings);
        List<Future<?>> sent = new ArrayList<>(); // 0.8.2 has no flush()
        for (int number = 0; number < 20; number++) {
            byte[] key = number % 4 == 0 ? null : number % 7 == 0 ? new byte[0] : bytes("key-" + number);
            byte[] value = number % 5 == 4 ? null : number % 11 == 0 ? new byte[0] : bytes("value " + number);
            sent.add(producer.send(record(words[1], number % 3 == 2 ? -1_000_000L * number : 10L * number, key, value)));
        }
        if (!words[2].equals("none")) // longer than one block of snappy and of LZ4
            sent.add(producer.send(record(words[1], 0, bytes("big"), bytes("0123456789abcdef".repeat(10_000)))));
        for (Future<?> each : sent)
            each.get();
        producer.send(record(words[1], 7, bytes("last"), bytes("in another set"))).get();
        producer.close();
    }

    /** Before 0.10 a record has no time. */
    static ProducerRecord<byte[], byte[]> record(String topic, long after, byte[] key, byte[] value) throws Exception {
        for (Constructor<?> found : ProducerRecord.class.getConstructors())
            if (found.getParameterCount() == 5 && found.getParameterTypes()[2] == Long.class) {
                @SuppressWarnings("unchecked")
                ProducerRecord<byte[], byte[]> made =
                        (ProducerRecord<byte[], byte[]>) found.newInstance(topic, 0, START + after, key, value);
                return made;
            }
        return new ProducerRecord<>(topic, 0, key, value);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes what Java's client writes: `java-<codec>` for each codec, and `java-transactions`. */
public class GoldenProducer {
    static final long START = 1_700_000_000_000L;

    public static void main(String[] words) throws Exception {
        for (String codec : new String[] {"none", "gzip", "snappy", "lz4", "zstd"}) {
            try (KafkaProducer<byte[], byte[]> producer = producer(words[0], codec, null)) {
                for (int number = 0; number < 20; number++) producer.send(record("java-" + codec, number));
                if (!codec.equals("none")) producer.send(big("java-" + codec));
                producer.flush();
                producer.send(record("java-" + codec, 20)); // a second batch
            }
        }
        transactions(words[0]);
    }

    /** Two producers take turns; the first one's second transaction is aborted, and the second one's first. */
    static void transactions(String bootstrap) {
        KafkaProducer<byte[], byte[]> one = producer(bootstrap, "lz4", "one");
        KafkaProducer<byte[], byte[]> two = producer(bootstrap, "none", "two");
        one.initTransactions();
        two.initTransactions();
        one.beginTransaction();
        two.beginTransaction();
        send(one, 0, 5);
        send(two, 5, 8);
        one.commitTransaction();
        one.beginTransaction();
        send(one, 8, 12);
        send(two, 12, 14);
        two.abortTransaction();
        two.beginTransaction();
        send(two, 14, 17);
        one.abortTransaction();
        two.commitTransaction();
        one.beginTransaction();
        send(one, 17, 19);
        one.commitTransaction();
        one.close();
        two.close();
    }

    static void send(KafkaProducer<byte[], byte[]> producer, int from, int to) {
        for (int number = from; number < to; number++) producer.send(record("java-transactions", number));
        producer.flush();
    }

    static KafkaProducer<byte[], byte[]> producer(String bootstrap, String codec, String transactionalId) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("compression.type", codec);
        settings.put("linger.ms", "5000");
        settings.put("batch.size", "1000000");
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
        if (transactionalId != null) settings.put("transactional.id", transactionalId);
        return new KafkaProducer<>(settings);
    }

    static ProducerRecord<byte[], byte[]> record(String topic, int number) {
        byte[] key = number % 4 == 0 ? null : number % 7 == 0 ? new byte[0] : bytes("key-" + number);
        byte[] value = number % 5 == 4 ? null : number % 11 == 0 ? new byte[0] : bytes("value " + number);
        long timestamp = START + (number % 3 == 2 ? -1_000_000L * number : 10L * number);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, timestamp, key, value);
        if (number % 6 == 1) record.headers().add("trace", bytes("x")).add("null", null).add("größe", new byte[0]);
        return record;
    }

    /** Longer than one block of snappy and of LZ4. */
    static ProducerRecord<byte[], byte[]> big(String topic) {
        return new ProducerRecord<>(topic, 0, START, bytes("big"), bytes("0123456789abcdef".repeat(10_000)));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

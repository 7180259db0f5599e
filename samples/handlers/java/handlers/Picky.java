package handlers;

import java.util.Collections;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Throws on a record whose key is "poison". */
public class Picky implements MirrorMaker.MirrorMakerMessageHandler {
    @Override
    public List<ProducerRecord<byte[], byte[]>> handle(BaseConsumerRecord record) {
        if (record.key() != null && new String(record.key()).equals("poison")) {
            throw new IllegalStateException("poison at " + record.offset());
        }
        return Collections.singletonList(new ProducerRecord<>(
            record.topic(), null, record.timestamp(), record.key(), record.value(), record.headers()));
    }
}

package handlers;

import java.util.Collections;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Drops records without a value. */
public class DropTombstones implements MirrorMaker.MirrorMakerMessageHandler {
    @Override
    public List<ProducerRecord<byte[], byte[]>> handle(BaseConsumerRecord record) {
        if (record.value() == null) {
            return Collections.emptyList();
        }
        return Collections.singletonList(new ProducerRecord<>(
            record.topic(), null, record.timestamp(), record.key(), record.value(), record.headers()));
    }
}

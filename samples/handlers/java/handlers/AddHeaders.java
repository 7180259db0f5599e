package handlers;

import java.util.Collections;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Adds headers that say where the record comes from. */
public class AddHeaders implements MirrorMaker.MirrorMakerMessageHandler {
    @Override
    public List<ProducerRecord<byte[], byte[]>> handle(BaseConsumerRecord record) {
        ProducerRecord<byte[], byte[]> made = new ProducerRecord<>(
            record.topic(), null, record.timestamp(), record.key(), record.value(), record.headers());
        made.headers().add("from", (record.topic() + "-" + record.partition() + "@" + record.offset()).getBytes());
        made.headers().add("nothing", null);
        return Collections.singletonList(made);
    }
}

package handlers;

import java.util.Collections;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Puts the text of --message.handler.args before the topic. */
public class Rename implements MirrorMaker.MirrorMakerMessageHandler {
    private final String prefix;

    public Rename(String prefix) {
        this.prefix = prefix;
    }

    @Override
    public List<ProducerRecord<byte[], byte[]>> handle(BaseConsumerRecord record) {
        return Collections.singletonList(new ProducerRecord<>(
            prefix + record.topic(), null, record.timestamp(), record.key(), record.value(), record.headers()));
    }
}

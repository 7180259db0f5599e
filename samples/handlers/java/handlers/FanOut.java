package handlers;

import java.util.Arrays;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends each record to its topic and, in the partition it came from, to an archive. */
public class FanOut implements MirrorMaker.MirrorMakerMessageHandler {
    @Override
    public List<ProducerRecord<byte[], byte[]>> handle(BaseConsumerRecord record) {
        return Arrays.asList(
            new ProducerRecord<>(
                record.topic(), null, record.timestamp(), record.key(), record.value(), record.headers()),
            new ProducerRecord<>(
                record.topic() + ".archive", record.partition(), record.timestamp(), null, record.value()));
    }
}

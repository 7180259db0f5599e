package handlers;

import java.util.Collections;
import java.util.List;
import kafka.consumer.BaseConsumerRecord;
import kafka.tools.MirrorMaker;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Stateful: lets every n-th record through, with its number as the value; the args are "n first". */
public class EveryNth implements MirrorMaker.MirrorMakerMessageHandler {
    private final int n;
    private long number;

    public EveryNth(String args) {
        String[] words = args.split(" ");
        n = Integer.parseInt(words[0]);
        number = Long.parseLong(words[1]);
    }

    @Override
    public List<ProducerRecord<byte[], byte[]>> handle(BaseConsumerRecord record) {
        if (number++ % n != 0) {
            return Collections.emptyList();
        }
        return Collections.singletonList(new ProducerRecord<>(
            record.topic(), null, record.timestamp(), record.key(), Long.toString(number).getBytes()));
    }
}

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTopic;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTopicCollection;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnPartitionResult;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnPartitionResultCollection;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnTopicResult;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnTopicResultCollection;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;

/** Writes messages of transactions, in each version that clients of transaction versions 1 and 2 use, as JSON on stdout. */
public class GoldenTxn {
    static final String ID = "mirror.g.f.7";
    static final List<String> rows = new ArrayList<>();

    static void write(String name, Message message, int first, int last) {
        for (int version = first; version <= last; version++) {
            ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, (short) version).buffer();
            StringBuilder hex = new StringBuilder();
            while (bytes.hasRemaining()) hex.append(String.format("%02x", bytes.get()));
            rows.add("  \"" + name + " " + version + "\": \"" + hex + "\"");
        }
    }

    static AddPartitionsToTxnPartitionResult result(int partition, int error) {
        return new AddPartitionsToTxnPartitionResult().setPartitionIndex(partition).setPartitionErrorCode((short) error);
    }

    public static void main(String[] args) {
        InitProducerIdRequestData init = new InitProducerIdRequestData().setTransactionalId(ID).setTransactionTimeoutMs(60000);
        write("init", init, 0, 5);
        write("init-expected", init.duplicate().setProducerId(4711).setProducerEpoch((short) 5), 3, 5);
        write("init-answer", new InitProducerIdResponseData().setProducerId(4711).setProducerEpoch((short) 6), 0, 5);
        write("init-refused", new InitProducerIdResponseData().setErrorCode((short) 51).setProducerEpoch((short) -1), 0, 5);
        AddPartitionsToTxnTopicCollection topics = new AddPartitionsToTxnTopicCollection();
        topics.add(new AddPartitionsToTxnTopic().setName("orders").setPartitions(List.of(0, 3)));
        topics.add(new AddPartitionsToTxnTopic().setName("positions.internal").setPartitions(List.of(7)));
        write("add", new AddPartitionsToTxnRequestData().setV3AndBelowTransactionalId(ID).setV3AndBelowProducerId(4711)
            .setV3AndBelowProducerEpoch((short) 6).setV3AndBelowTopics(topics), 0, 3);
        AddPartitionsToTxnPartitionResultCollection orders = new AddPartitionsToTxnPartitionResultCollection();
        orders.add(result(0, 55));
        orders.add(result(3, 3));
        AddPartitionsToTxnPartitionResultCollection positions = new AddPartitionsToTxnPartitionResultCollection();
        positions.add(result(7, 55));
        AddPartitionsToTxnTopicResultCollection results = new AddPartitionsToTxnTopicResultCollection();
        results.add(new AddPartitionsToTxnTopicResult().setName("orders").setResultsByPartition(orders));
        results.add(new AddPartitionsToTxnTopicResult().setName("positions.internal").setResultsByPartition(positions));
        write("add-refused", new AddPartitionsToTxnResponseData().setResultsByTopicV3AndBelow(results), 0, 3);
        write("end", new EndTxnRequestData().setTransactionalId(ID).setProducerId(4711).setProducerEpoch((short) 6)
            .setCommitted(true), 0, 4);
        write("end-2", new EndTxnRequestData().setTransactionalId(ID).setProducerId(4711).setProducerEpoch((short) 6)
            .setCommitted(true), 5, 5);
        write("end-answer", new EndTxnResponseData(), 0, 4);
        write("end-2-answer", new EndTxnResponseData().setProducerId(4711).setProducerEpoch((short) 7), 5, 5);
        write("end-refused", new EndTxnResponseData().setErrorCode((short) 90), 0, 4);
        write("end-2-refused", new EndTxnResponseData().setErrorCode((short) 90), 5, 5);
        write("find", new FindCoordinatorRequestData().setKey(ID).setKeyType((byte) 1), 1, 3);
        write("find", new FindCoordinatorRequestData().setCoordinatorKeys(List.of(ID)).setKeyType((byte) 1), 4, 4);
        System.out.println("{\n" + String.join(",\n", rows) + "\n}");
    }
}

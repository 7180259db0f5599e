import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.utils.Utils;

/** Reads record sets in Base64, one a line, and prints what Kafka's own classes find: a line a record, then `end`. */
public class RecordsOracle {
    public static void main(String[] words) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, false);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(Base64.getDecoder().decode(line))).batches()) {
                batch.ensureValid();
                for (Record record : batch) {
                    record.ensureValid();
                    StringBuilder text = new StringBuilder();
                    text.append(record.offset()).append(' ').append(record.timestamp());
                    text.append(' ').append(bytes(record.key())).append(' ').append(bytes(record.value()));
                    text.append(' ').append(record.hasKey() ? Utils.murmur2(Utils.toArray(record.key())) : 0);
                    for (Header header : record.headers()) {
                        text.append(' ').append(bytes(ByteBuffer.wrap(Utils.utf8(header.key()))));
                        text.append(' ').append(bytes(header.value() == null ? null : ByteBuffer.wrap(header.value())));
                    }
                    out.println(text);
                }
            }
            out.println("end");
        }
        out.flush();
    }

    static String bytes(ByteBuffer buffer) {
        return buffer == null ? "null" : "=" + Base64.getEncoder().encodeToString(Utils.toArray(buffer));
    }
}

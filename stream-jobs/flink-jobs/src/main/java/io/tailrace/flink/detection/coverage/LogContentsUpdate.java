package io.tailrace.flink.detection.coverage;

import io.tailrace.detection.coverage.ObservedFields;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import java.io.IOException;
import java.util.List;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * An event with a field or a class that no earlier event of its log had.
 *
 * @param cluster cluster of the server; empty if unknown
 * @param instance server
 * @param category category of the log source in Sigma
 * @param product product of the log source in Sigma
 * @param service slowlog, audit, general, errorlog
 * @param contents all fields of the event: {@link ObservedFields#write}
 */
public record LogContentsUpdate(
        String cluster, String instance, String category, String product, String service, byte[] contents) {

    private static final int INITIAL_BYTES = 1024;

    public static LogContentsUpdate of(DetectionEvent event, String instance) throws IOException {
        ObservedFields contents = new ObservedFields();
        contents.add(event);
        DataOutputSerializer out = new DataOutputSerializer(INITIAL_BYTES);
        contents.write(out);
        List<FieldValue> cluster = event.values(DatabaseField.CLUSTER.fieldName());
        LogSource log = event.source();
        return new LogContentsUpdate(
                cluster.isEmpty() ? "" : cluster.get(0).text(),
                instance,
                log.category(),
                log.product(),
                log.service(),
                out.getCopyOfBuffer());
    }

    LogSource log() {
        return new LogSource(category, product, service);
    }

    ObservedFields read() throws IOException {
        return ObservedFields.read(new DataInputDeserializer(contents));
    }
}

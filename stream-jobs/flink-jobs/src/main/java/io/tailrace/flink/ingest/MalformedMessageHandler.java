package io.tailrace.flink.ingest;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.EventId;
import io.tailrace.event.Stage;
import io.tailrace.framing.DeadLetterCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;

/**
 * Creates dead letters from invalid Kafka records of lines, census, spans and captured plans. They belong to no log:
 * {@code log} contains topic and partition, {@code entry_offset} is the record's offset in it, and {@code instance} is
 * the key of the record, which is readable even if the record is not.
 */
public final class MalformedMessageHandler {

    private static final int MAX_RAW_BYTES = 1 << 20;

    private MalformedMessageHandler() {}

    public static DeadLetter deadLetter(KafkaMessage message, String error, Instant now, String version) {
        return deadLetter(message, DeadLetterCode.MALFORMED_MESSAGE, error, now, version);
    }

    /** A message may have a dead letter of each code. */
    public static DeadLetter deadLetter(
            KafkaMessage message, DeadLetterCode code, String error, Instant now, String version) {
        String log = "kafka:" + message.topic() + '/' + message.partition();
        DeadLetter letter = new DeadLetter();
        letter.setDeadLetterId(id(log, message.offset(), code));
        letter.setCluster("");
        letter.setInstance(new String(message.key(), StandardCharsets.UTF_8));
        letter.setSource("");
        letter.setLog(log);
        letter.setEntryOffset(message.offset());
        letter.setEntryBytes(message.value().length);
        letter.setStage(Stage.DECODE);
        letter.setCode(code.name());
        letter.setMessage(error);
        letter.setRaw(ByteBuffer.wrap(message.value(), 0, Math.min(message.value().length, MAX_RAW_BYTES)));
        letter.setSeenAt(now);
        letter.setVersion(version);
        return letter;
    }

    private static EventId id(String log, long offset, DeadLetterCode code) {
        String suffix = code == DeadLetterCode.MALFORMED_MESSAGE ? "" : '/' + code.name();
        UUID uuid = UUID.nameUUIDFromBytes((log + '@' + offset + suffix).getBytes(StandardCharsets.UTF_8));
        return new EventId(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array());
    }
}

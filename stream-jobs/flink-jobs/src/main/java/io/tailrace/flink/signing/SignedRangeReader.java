package io.tailrace.flink.signing;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.MalformedMessageHandler;
import io.tailrace.flink.ingest.SignedPayloadMessage;
import java.time.Instant;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Decodes the messages of the topic of signed ranges. Others become dead letters. */
public final class SignedRangeReader extends ProcessFunction<KafkaMessage, SignedRange> {

    private static final long serialVersionUID = 1;

    private final OutputTag<DeadLetter> deadLetters;
    private final String version;
    private transient SignedPayloadMessage message;

    /**
     * @param deadLetters side output for messages that are not signed ranges
     * @param version version of Tailrace, for dead letters
     */
    public SignedRangeReader(OutputTag<DeadLetter> deadLetters, String version) {
        this.deadLetters = deadLetters;
        this.version = version;
    }

    @Override
    public void open(OpenContext context) {
        message = new SignedPayloadMessage();
    }

    @Override
    public void processElement(KafkaMessage record, Context context, Collector<SignedRange> out) {
        String error = message.read(record.value());
        if (error.isEmpty()) {
            try {
                out.collect(SignedRangeMessage.read(message));
            } catch (IllegalArgumentException | ArithmeticException e) {
                error = "not a signed range: " + e.getMessage();
            }
        }
        if (!error.isEmpty()) {
            Instant now = Instant.ofEpochMilli(context.timerService().currentProcessingTime());
            context.output(deadLetters, MalformedMessageHandler.deadLetter(record, error, now, version));
        }
    }
}

package io.tailrace.lines;

import io.tailrace.event.DeadLetter;
import io.tailrace.reassembly.CensusRecord;
import java.time.Instant;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/** Decodes census messages. */
public final class CensusOperator extends AbstractStreamOperator<CensusRecord>
        implements OneInputStreamOperator<TopicMessage, CensusRecord> {

    private static final long serialVersionUID = 1;

    private final OutputTag<DeadLetter> deadLetters;
    private final String version;

    private transient CensusMessage census;

    /**
     * @param deadLetters side output for messages that are no census
     * @param version of Tailrace, for dead letters
     */
    public CensusOperator(OutputTag<DeadLetter> deadLetters, String version) {
        this.deadLetters = deadLetters;
        this.version = version;
    }

    @Override
    public void open() throws Exception {
        super.open();
        census = new CensusMessage();
    }

    @Override
    public void processElement(StreamRecord<TopicMessage> element) {
        String complaint = census.read(element.getValue().value());
        if (complaint.isEmpty()) {
            output.collect(new StreamRecord<>(census.record()));
        } else {
            Instant now = Instant.ofEpochMilli(getProcessingTimeService().getCurrentProcessingTime());
            DeadLetter letter = MalformedMessages.deadLetter(element.getValue(), complaint, now, version);
            output.collect(deadLetters, new StreamRecord<>(letter));
        }
    }
}

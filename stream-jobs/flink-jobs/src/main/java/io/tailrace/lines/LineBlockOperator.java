package io.tailrace.lines;

import io.tailrace.event.DeadLetter;
import io.tailrace.reassembly.LineBlock;
import java.time.Instant;
import org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Decodes line messages and passes them on as blocks of consecutive lines, at the latest {@value #LONGEST_WAIT_MS} ms
 * after a line came and before every checkpoint barrier: it has no state.
 */
public final class LineBlockOperator extends AbstractStreamOperator<LineBlock>
        implements OneInputStreamOperator<TopicMessage, LineBlock> {

    private static final long serialVersionUID = 1;
    private static final long LONGEST_WAIT_MS = 50;

    private final OutputTag<DeadLetter> deadLetters;
    private final String version;

    private transient LineMessage line;
    private transient LineBlocker blocker;
    private transient boolean timerSet;

    /**
     * @param deadLetters side output for messages that are no lines
     * @param version of Tailrace, for dead letters
     */
    public LineBlockOperator(OutputTag<DeadLetter> deadLetters, String version) {
        this.deadLetters = deadLetters;
        this.version = version;
    }

    @Override
    public void open() throws Exception {
        super.open();
        line = new LineMessage();
        blocker = new LineBlocker(block -> output.collect(new StreamRecord<>(block)));
    }

    @Override
    public void processElement(StreamRecord<TopicMessage> element) {
        String complaint = line.read(element.getValue().value());
        if (complaint.isEmpty()) {
            blocker.add(line);
            setTimer();
        } else {
            Instant now = Instant.ofEpochMilli(getProcessingTimeService().getCurrentProcessingTime());
            DeadLetter letter = MalformedMessages.deadLetter(element.getValue(), complaint, now, version);
            output.collect(deadLetters, new StreamRecord<>(letter));
        }
    }

    private void setTimer() {
        if (!timerSet) {
            timerSet = true;
            long due = getProcessingTimeService().getCurrentProcessingTime() + LONGEST_WAIT_MS;
            getProcessingTimeService().registerTimer(due, flushing());
        }
    }

    private ProcessingTimeCallback flushing() {
        return time -> {
            timerSet = false;
            blocker.flush();
        };
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        blocker.flush();
    }

    @Override
    public void finish() throws Exception {
        blocker.flush();
        super.finish();
    }
}

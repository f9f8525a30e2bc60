package io.tailrace.flink.ingest;

import io.tailrace.event.DeadLetter;
import java.time.Instant;
import org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Decodes the messages of a lines topic. It emits blocks of consecutive lines at the latest {@value #MAX_WAIT_MS} ms
 * after a line arrived and before every checkpoint barrier, so it has no state. A census record is emitted after all
 * lines that arrived before it.
 */
public final class LineBlockOperator extends AbstractStreamOperator<LogInput>
        implements OneInputStreamOperator<KafkaMessage, LogInput> {

    private static final long serialVersionUID = 1;
    private static final long MAX_WAIT_MS = 50;

    private final OutputTag<DeadLetter> deadLetters;
    private final String version;

    private transient LineMessage line;
    private transient CensusMessage census;
    private transient LineBlockAssembler blocker;
    private transient boolean timerSet;

    /**
     * @param deadLetters side output for messages that are neither lines nor a census
     * @param version version of Tailrace, for dead letters
     */
    public LineBlockOperator(OutputTag<DeadLetter> deadLetters, String version) {
        this.deadLetters = deadLetters;
        this.version = version;
    }

    @Override
    public void open() throws Exception {
        super.open();
        line = new LineMessage();
        census = new CensusMessage();
        blocker = new LineBlockAssembler(block -> output.collect(new StreamRecord<>(LogInput.of(block))));
    }

    @Override
    public void processElement(StreamRecord<KafkaMessage> element) {
        KafkaMessage message = element.getValue();
        String error = line.read(message.value());
        if (line.isCensus()) {
            error = passOnCensus(message.value());
        } else if (error.isEmpty() && !line.mayBeCut()) {
            blocker.add(line);
            setTimer();
        }
        if (!error.isEmpty()) {
            Instant now = Instant.ofEpochMilli(getProcessingTimeService().getCurrentProcessingTime());
            DeadLetter letter = MalformedMessageHandler.deadLetter(message, error, now, version);
            output.collect(deadLetters, new StreamRecord<>(letter));
        }
    }

    private String passOnCensus(byte[] value) {
        String error = census.read(value);
        if (error.isEmpty()) {
            blocker.flush();
            output.collect(new StreamRecord<>(LogInput.of(census.record())));
        }
        return error;
    }

    private void setTimer() {
        if (!timerSet) {
            timerSet = true;
            long due = getProcessingTimeService().getCurrentProcessingTime() + MAX_WAIT_MS;
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

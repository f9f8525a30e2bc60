package io.tailrace.flink.parsing;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.PostingKind;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.QuerySample;
import io.tailrace.event.Stage;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.flag.EventFlag;
import io.tailrace.flink.framing.EntryBlock;
import io.tailrace.flink.parsing.StatementEmissionCache.Statement;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.ParseListener;
import io.tailrace.identity.DeadLetterId;
import io.tailrace.plan.Plan;
import io.tailrace.reassembly.FramedEntry;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Parses entries. Every entry becomes one event or one dead letter and is posted to the ledger as such. The postings
 * are aggregated and emitted before each checkpoint barrier, so the operator has no state.
 *
 * <p>Main output: query events. Side outputs: {@link ParseOutputs}.
 */
public final class ParseOperator extends AbstractStreamOperator<QueryEvent>
        implements OneInputStreamOperator<EntryBlock, QueryEvent> {

    private static final long serialVersionUID = 1;
    private static final int MAX_RAW_BYTES = 1 << 20;
    private static final int MAX_STATEMENT_CHARACTERS = 64 << 10;

    private final ParserConfig settings;

    private transient Map<String, Optional<EntryParser>> parsers;
    private transient PostingAggregator postings;
    private transient StatementEmissionCache statements;
    private transient LoggedPlanExtractor plans;
    private transient FramedEntry entry;
    private transient ParseListener listener;

    public ParseOperator(ParserConfig settings) {
        this.settings = settings;
    }

    @Override
    public void open() throws Exception {
        super.open();
        parsers = new HashMap<>();
        postings = new PostingAggregator();
        statements = new StatementEmissionCache();
        plans = new LoggedPlanExtractor();
        listener = new EventsOfEntry();
    }

    @Override
    public void processElement(StreamRecord<EntryBlock> element) {
        element.getValue().forEach(this::parse);
    }

    private void parse(FramedEntry framed) {
        entry = framed;
        Optional<EntryParser> parser = parsers.computeIfAbsent(entry.origin().format(), this::newParser);
        if (parser.isPresent()) {
            parser.get().parse(entry.toLogEntry(), listener);
        } else {
            listener.rejected(
                    DeadLetterCode.UNKNOWN_FORMAT,
                    "unknown format " + entry.origin().format());
        }
    }

    private Optional<EntryParser> newParser(String format) {
        return settings.formats().get().named(format).map(LogFormat::newParser);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        post();
    }

    @Override
    public void finish() throws Exception {
        post();
        super.finish();
    }

    private void post() {
        postings.flush(now(), posting -> emit(ParseOutputs.POSTINGS, posting));
    }

    private Instant now() {
        return Instant.ofEpochMilli(nowMillis());
    }

    private long nowMillis() {
        return getProcessingTimeService().getCurrentProcessingTime();
    }

    private <T> void emit(OutputTag<T> tag, T record) {
        output.collect(tag, new StreamRecord<>(record));
    }

    private final class EventsOfEntry implements ParseListener {

        /** Query id of the next statement by the previous rule set; null if both rule sets result in the same id. */
        private Long previousId;

        @Override
        public void renamed(long previousQueryId) {
            previousId = previousQueryId;
        }

        /** Returns the id by the previous rule set, once. */
        private Long takePreviousId(Long queryId) {
            Long taken = Objects.equals(previousId, queryId) ? null : previousId;
            previousId = null;
            return taken;
        }

        @Override
        public boolean needsStatement(QueryEvent event) {
            return statements.of(event.getQueryId(), event.getRuleSet()).needsSample(nowMillis(), event.getQueryTime());
        }

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            Long previous = takePreviousId(event.getQueryId());
            if (isAccepted(settings.queryTimes(), event.getEventTime())) {
                event.setFlags(flags(event.getFlags()));
                event.setFingerprint(fingerprint);
                Optional<Plan> plan = plans.of(event);
                output.collect(new StreamRecord<>(event));
                Statement seen = statements.of(event.getQueryId(), event.getRuleSet());
                plan.ifPresent(read -> passOnPlan(event, read, seen));
                if (!fingerprint.isEmpty() && seen.takeFingerprint(nowMillis(), previous)) {
                    emit(ParseOutputs.FINGERPRINTS, fingerprint(event, fingerprint, previous));
                }
                if (!statement.isEmpty() && seen.takeSample(nowMillis(), event.getQueryTime())) {
                    emit(ParseOutputs.SAMPLES, sample(event, statement));
                }
            }
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {
            Long previous = takePreviousId(event.getQueryId());
            if (isAccepted(settings.auditTimes(), event.getEventTime())) {
                event.setFlags(flags(event.getFlags()));
                event.setFingerprint(fingerprint);
                emit(ParseOutputs.AUDIT_EVENTS, event);
                if (event.getQueryId() != null && !fingerprint.isEmpty()) {
                    passOnFingerprint(event, fingerprint, previous);
                }
            }
        }

        @Override
        public void error(ErrorEvent event) {
            if (isAccepted(settings.errorTimes(), event.getEventTime())) {
                event.setFlags(flags(event.getFlags()));
                emit(ParseOutputs.ERROR_EVENTS, event);
            }
        }

        private void passOnFingerprint(AuditEvent event, String fingerprint, Long previous) {
            Statement seen = statements.of(event.getQueryId(), event.getRuleSet());
            if (seen.takeFingerprint(nowMillis(), previous)) {
                emit(ParseOutputs.FINGERPRINTS, fingerprint(event, fingerprint, previous));
            }
        }

        private void passOnPlan(QueryEvent event, Plan plan, Statement seen) {
            if (seen.takePlan(event.getInstance() + ' ' + event.getPlanHash(), nowMillis())) {
                emit(ParseOutputs.PLANS, plans.record(event, plan));
            }
        }

        /** Posts the entry as an event or a dead letter. */
        private boolean isAccepted(AcceptedTimeRange times, Instant eventTime) {
            String error = times.validationError(eventTime, now());
            if (error.isEmpty()) {
                postings.add(entry, PostingKind.EVENT, "");
            } else {
                rejected(DeadLetterCode.TIME_OUT_OF_RANGE, error);
            }
            return error.isEmpty();
        }

        @Override
        public void rejected(DeadLetterCode code, String message) {
            postings.add(entry, PostingKind.DEAD_LETTER, code.name());
            emit(ParseOutputs.DEAD_LETTERS, deadLetter(code, message));
        }
    }

    private List<String> flags(List<String> ofParser) {
        if (!entry.backfill()) {
            return ofParser;
        }
        List<String> flags = new ArrayList<>(ofParser);
        EventFlag.BACKFILLED.addTo(flags);
        return flags;
    }

    private static Fingerprint fingerprint(QueryEvent event, String text, Long previousId) {
        return new Fingerprint(
                event.getQueryId(),
                event.getRuleSet(),
                text,
                event.getVerb(),
                event.getEventTime(),
                Fingerprinter.namesInClass(event.getTablesRead(), text),
                Fingerprinter.namesInClass(event.getTablesWritten(), text),
                previousIds(previousId));
    }

    /** Tables that the log names may not occur in the statement: they may be those behind a view. */
    private static Fingerprint fingerprint(AuditEvent event, String text, Long previousId) {
        boolean ofStatement = !"log".equals(event.getTablesBasis());
        return new Fingerprint(
                event.getQueryId(),
                event.getRuleSet(),
                text,
                event.getVerb(),
                event.getEventTime(),
                ofStatement ? Fingerprinter.namesInClass(event.getTablesRead(), text) : List.of(),
                ofStatement ? Fingerprinter.namesInClass(event.getTablesWritten(), text) : List.of(),
                previousIds(previousId));
    }

    private static List<Long> previousIds(Long previousId) {
        return previousId == null ? List.of() : List.of(previousId);
    }

    private static QuerySample sample(QueryEvent event, String statement) {
        String cut = statement.substring(0, Math.min(statement.length(), MAX_STATEMENT_CHARACTERS));
        return new QuerySample(
                event.getQueryId(),
                event.getRuleSet(),
                event.getEventId(),
                event.getCluster(),
                event.getInstance(),
                event.getDatabase(),
                event.getEventTime(),
                event.getQueryTime(),
                cut,
                event.getTraceId(),
                event.getSpanId());
    }

    private DeadLetter deadLetter(DeadLetterCode code, String message) {
        byte[] bytes = entry.bytes();
        DeadLetter letter = new DeadLetter();
        letter.setDeadLetterId(DeadLetterId.of(
                entry.origin().instance(),
                entry.origin().source(),
                entry.offset(),
                bytes,
                0,
                bytes.length,
                Stage.PARSER,
                code.name()));
        letter.setCluster(entry.origin().cluster());
        letter.setInstance(entry.origin().instance());
        letter.setSource(entry.origin().source());
        letter.setLog(entry.origin().log());
        letter.setGeneration(entry.generation());
        letter.setEntryOffset(entry.offset());
        letter.setEntryBytes(bytes.length);
        letter.setStage(Stage.PARSER);
        letter.setCode(code.name());
        letter.setMessage(message);
        letter.setRaw(ByteBuffer.wrap(bytes, 0, Math.min(bytes.length, MAX_RAW_BYTES)));
        letter.setSeenAt(now());
        letter.setVersion(settings.version());
        return letter;
    }
}

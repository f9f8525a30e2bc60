package io.tailrace.flink.normalize;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.QuerySample;
import io.tailrace.event.SignedRange;
import io.tailrace.event.StatementPlan;
import io.tailrace.event.TraceSpan;
import io.tailrace.flink.clickhouse.ClickHouseSink;
import io.tailrace.flink.framing.EntryBlock;
import io.tailrace.flink.framing.FramerOperator;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.LineBlockOperator;
import io.tailrace.flink.ingest.LogInput;
import io.tailrace.flink.parsing.AcceptedTimeRange;
import io.tailrace.flink.parsing.ParseOperator;
import io.tailrace.flink.parsing.ParseOutputs;
import io.tailrace.flink.parsing.ParserConfig;
import io.tailrace.flink.runtime.TailraceVersion;
import io.tailrace.flink.spans.SpanParseOperator;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.innodb.RedoLogCapacities;
import io.tailrace.reassembly.ReassemblyLimits;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.OutputTag;

/**
 * The stages of the job, in the order in which a line passes them:
 *
 * <pre>
 * lines and census → blocks ─ by log → framer ─ rebalance → parser → query_events, audit_events, … → ClickHouse
 *                                                                  → tailrace.events
 * </pre>
 *
 * <pre>
 * spans → reader → otel_traces → ClickHouse
 * signed ranges → reader ─ by host → signatures ◂ host keys ─ by log → framer → signed_ranges → ClickHouse
 *                                                                        └ failures → tailrace.events
 * </pre>
 *
 * <p>Every stage may create dead letters and postings, which are also written to ClickHouse.
 */
final class NormalizePipeline {

    private static final OutputTag<DeadLetter> MALFORMED_MESSAGES =
            new OutputTag<>("malformed-messages", new AvroTypeInfo<>(DeadLetter.class));

    /**
     * The inputs and outputs of the job.
     *
     * @param lines messages of the collectors: lines and census records
     * @param spans messages of OpenTelemetry; empty if the job reads none
     * @param signed signed ranges of logs; empty if the job verifies none
     * @param events sinks of published events; empty if they are not published
     * @param rows tables of ClickHouse
     */
    record SourcesAndSinks(
            Source<KafkaMessage, ?, ?> lines,
            Optional<Source<KafkaMessage, ?, ?>> spans,
            Optional<SignedSources> signed,
            Optional<EventSinks> events,
            ClickHouseSink rows) {}

    /** The signed ranges of logs, and the registered keys of the hosts that sign. */
    record SignedSources(Source<KafkaMessage, ?, ?> ranges, Source<KafkaMessage, ?, ?> keys) {}

    /** Sinks of published events, one for each class. */
    record EventSinks(
            Sink<QueryEvent> queries,
            Sink<AuditEvent> audits,
            Sink<ErrorEvent> errors,
            Sink<LedgerEntry> gaps,
            Sink<SignedRange> signedRanges) {}

    private final NormalizeJobConfig config;
    private final SourcesAndSinks sourcesAndSinks;
    private final String version = TailraceVersion.get();

    NormalizePipeline(NormalizeJobConfig config, SourcesAndSinks sourcesAndSinks) {
        this.config = config;
        this.sourcesAndSinks = sourcesAndSinks;
    }

    void addTo(StreamExecutionEnvironment environment) {
        SingleOutputStreamOperator<LogInput> inputs = inputs(environment);
        ClickHouseSink sink = sourcesAndSinks.rows();
        Optional<SignedRangePipeline> signed = sourcesAndSinks
                .signed()
                .map(sources -> SignedRangePipeline.of(environment, sources, MALFORMED_MESSAGES, version));
        SingleOutputStreamOperator<EntryBlock> entries =
                entries(signed.map(ranges -> ranges.unionWith(inputs)).orElse(inputs));
        SingleOutputStreamOperator<QueryEvent> events = events(entries);
        sourcesAndSinks.events().ifPresent(sinks -> publish(events, entries, sinks));
        signed.ifPresent(ranges -> {
            ranges.store(entries, sink);
            sourcesAndSinks
                    .events()
                    .ifPresent(sinks -> publish(ranges.failures(entries), sinks.signedRanges(), "signed-ranges-topic"));
        });
        store(inputs, entries, events, environment);
    }

    private SingleOutputStreamOperator<LogInput> inputs(StreamExecutionEnvironment environment) {
        return environment
                .fromSource(sourcesAndSinks.lines(), WatermarkStrategy.noWatermarks(), "lines")
                .uid("lines-source")
                .transform(
                        "lines to blocks",
                        TypeInformation.of(LogInput.class),
                        new LineBlockOperator(MALFORMED_MESSAGES, version))
                .uid("line-blocks");
    }

    private SingleOutputStreamOperator<EntryBlock> entries(DataStream<LogInput> inputs) {
        return inputs.keyBy(LogInput::key)
                .transform(
                        "framer",
                        TypeInformation.of(EntryBlock.class),
                        new FramerOperator(reassemblyLimits(), FormatRegistry::new, version))
                .uid("framer");
    }

    private ReassemblyLimits reassemblyLimits() {
        ReassemblyLimits defaults = ReassemblyLimits.defaults();
        return new ReassemblyLimits(
                defaults.reorderBytes(),
                config.gapTimeout().toMillis(),
                defaults.lineLimitBytes(),
                defaults.segmentBytes(),
                defaults.recentBytes(),
                defaults.detectBytes(),
                defaults.edgeBytes(),
                defaults.retentionMillis(),
                defaults.liveGenerations());
    }

    /** One framer processes each file: framing is cheap, and parsing is distributed over all subtasks. */
    private SingleOutputStreamOperator<QueryEvent> events(DataStream<EntryBlock> entries) {
        RedoLogCapacities innoDbLogs = config.innoDbLogs();
        ParserConfig settings = new ParserConfig(
                () -> new FormatRegistry(innoDbLogs),
                new AcceptedTimeRange(config.queryEventsRetention()),
                new AcceptedTimeRange(config.auditEventsRetention()),
                new AcceptedTimeRange(config.errorEventsRetention()),
                version);
        return entries.rebalance()
                .transform("parser", new AvroTypeInfo<>(QueryEvent.class), new ParseOperator(settings))
                .uid("parser");
    }

    private static void publish(
            SingleOutputStreamOperator<QueryEvent> events,
            SingleOutputStreamOperator<EntryBlock> entries,
            EventSinks sinks) {
        publish(events, sinks.queries(), "query-events-topic");
        publish(events.getSideOutput(ParseOutputs.AUDIT_EVENTS), sinks.audits(), "audit-events-topic");
        publish(events.getSideOutput(ParseOutputs.ERROR_EVENTS), sinks.errors(), "error-events-topic");
        publish(gaps(entries), sinks.gaps(), "gaps-topic");
    }

    /** Publishes gaps as soon as they are known, because consumers of events must know which bytes are missing. */
    private static DataStream<LedgerEntry> gaps(SingleOutputStreamOperator<EntryBlock> entries) {
        return entries.getSideOutput(FramerOperator.POSTINGS)
                .filter(posting -> posting.getKind() == PostingKind.GAP && posting.getCount() > 0)
                .name("gap postings")
                .uid("gaps");
    }

    private static <T> void publish(DataStream<T> events, Sink<T> sink, String uid) {
        events.sinkTo(sink).name(uid.replace('-', ' ')).uid(uid);
    }

    private void store(
            SingleOutputStreamOperator<LogInput> inputs,
            SingleOutputStreamOperator<EntryBlock> entries,
            SingleOutputStreamOperator<QueryEvent> events,
            StreamExecutionEnvironment environment) {
        ClickHouseSink sink = sourcesAndSinks.rows();
        sink.add(events, "query_events", QueryEvent.class, "query-events-rows");
        sink.add(
                events.getSideOutput(ParseOutputs.AUDIT_EVENTS), "audit_events", AuditEvent.class, "audit-events-rows");
        sink.add(
                events.getSideOutput(ParseOutputs.ERROR_EVENTS), "error_events", ErrorEvent.class, "error-events-rows");
        sink.add(events.getSideOutput(ParseOutputs.SAMPLES), "query_samples", QuerySample.class, "query-samples-rows");
        sink.add(
                events.getSideOutput(ParseOutputs.FINGERPRINTS),
                "fingerprints",
                Fingerprint.class,
                "fingerprints-rows");
        sink.add(events.getSideOutput(ParseOutputs.PLANS), "plans", StatementPlan.class, "plans-rows");
        sink.add(events.getSideOutput(ParseOutputs.POSTINGS), "ledger", LedgerEntry.class, "parser-ledger-rows");
        sink.add(entries.getSideOutput(FramerOperator.POSTINGS), "ledger", LedgerEntry.class, "framer-ledger-rows");
        sink.add(deadLetters(inputs, entries, events), "dead_letters", DeadLetter.class, "dead-letters-rows");
        sourcesAndSinks.spans().ifPresent(source -> storeSpans(spans(environment, source), sink));
        sink.commit();
    }

    private SingleOutputStreamOperator<TraceSpan> spans(
            StreamExecutionEnvironment environment, Source<KafkaMessage, ?, ?> source) {
        return environment
                .fromSource(source, WatermarkStrategy.noWatermarks(), "spans")
                .uid("spans-source")
                .transform(
                        "span reader",
                        new AvroTypeInfo<>(TraceSpan.class),
                        new SpanParseOperator(config.otelTracesRetention(), MALFORMED_MESSAGES, version))
                .uid("span-reader");
    }

    private static void storeSpans(SingleOutputStreamOperator<TraceSpan> spans, ClickHouseSink sink) {
        sink.add(spans, "otel_traces", TraceSpan.class, "otel-traces-rows");
        sink.add(
                spans.getSideOutput(ParseOutputs.FINGERPRINTS),
                "fingerprints",
                Fingerprint.class,
                "span-fingerprints-rows");
        sink.add(spans.getSideOutput(MALFORMED_MESSAGES), "dead_letters", DeadLetter.class, "span-dead-letters-rows");
    }

    private static DataStream<DeadLetter> deadLetters(
            SingleOutputStreamOperator<LogInput> inputs,
            SingleOutputStreamOperator<EntryBlock> entries,
            SingleOutputStreamOperator<QueryEvent> events) {
        return inputs.getSideOutput(MALFORMED_MESSAGES)
                .union(
                        entries.getSideOutput(FramerOperator.DEAD_LETTERS),
                        events.getSideOutput(ParseOutputs.DEAD_LETTERS));
    }
}

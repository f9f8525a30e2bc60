package io.tailrace.flink.normalize;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.clickhouse.ClickHouseSink;
import io.tailrace.flink.framing.EntryBlock;
import io.tailrace.flink.framing.FramerOperator;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.LogInput;
import io.tailrace.flink.normalize.NormalizePipeline.SignedSources;
import io.tailrace.flink.signing.SignatureFunction;
import io.tailrace.flink.signing.SignedRangeReader;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.OutputTag;

/** The stages of signed ranges before and after the framer, which compares them with the bytes. */
final class SignedRangePipeline {

    private static final TypeInformation<SignedRange> RANGE = new AvroTypeInfo<>(SignedRange.class);
    /** Statuses that raise an alert. */
    private static final Set<String> FAILURES = Set.of("mismatch", "bad_signature", "unknown_key", "broken_chain");

    private final SingleOutputStreamOperator<SignedRange> messages;
    private final SingleOutputStreamOperator<SignedRange> signed;
    private final OutputTag<DeadLetter> malformed;

    private SignedRangePipeline(
            SingleOutputStreamOperator<SignedRange> messages,
            SingleOutputStreamOperator<SignedRange> signed,
            OutputTag<DeadLetter> malformed) {
        this.messages = messages;
        this.signed = signed;
        this.malformed = malformed;
    }

    static SignedRangePipeline of(
            StreamExecutionEnvironment environment,
            SignedSources sources,
            OutputTag<DeadLetter> malformed,
            String version) {
        SingleOutputStreamOperator<SignedRange> messages = source(environment, sources.ranges(), "signed-ranges")
                .process(new SignedRangeReader(malformed, version), RANGE)
                .name("read signed ranges")
                .uid("signed-ranges-reader");
        SingleOutputStreamOperator<SignedRange> signed = messages.keyBy(SignedRange::getHost)
                .connect(source(environment, sources.keys(), "host-keys").broadcast(SignatureFunction.KEYS))
                .process(new SignatureFunction(), RANGE)
                .name("verify signatures")
                .uid("signatures");
        return new SignedRangePipeline(messages, signed, malformed);
    }

    private static SingleOutputStreamOperator<KafkaMessage> source(
            StreamExecutionEnvironment environment, Source<KafkaMessage, ?, ?> source, String name) {
        return environment
                .fromSource(source, WatermarkStrategy.noWatermarks(), name.replace('-', ' '))
                .uid(name + "-source");
    }

    /** Adds the ranges with valid signatures to the inputs of the logs. */
    DataStream<LogInput> unionWith(DataStream<LogInput> inputs) {
        return inputs.union(signed.map(LogInput::of)
                .returns(TypeInformation.of(LogInput.class))
                .name("signed ranges of logs")
                .uid("signed-ranges-of-logs"));
    }

    private DataStream<SignedRange> results(SingleOutputStreamOperator<EntryBlock> entries) {
        return signed.getSideOutput(SignatureFunction.RESULTS)
                .union(entries.getSideOutput(FramerOperator.SIGNED_RANGES));
    }

    /** Returns the results that consumers of events must know. */
    DataStream<SignedRange> failures(SingleOutputStreamOperator<EntryBlock> entries) {
        return results(entries)
                .filter(range -> FAILURES.contains(range.getStatus()))
                .name("signed ranges that failed")
                .uid("signed-ranges-failures");
    }

    void store(SingleOutputStreamOperator<EntryBlock> entries, ClickHouseSink sink) {
        sink.add(results(entries), "signed_ranges", SignedRange.class, "signed-ranges-rows");
        sink.add(
                messages.getSideOutput(malformed), "dead_letters", DeadLetter.class, "signed-ranges-dead-letters-rows");
    }
}

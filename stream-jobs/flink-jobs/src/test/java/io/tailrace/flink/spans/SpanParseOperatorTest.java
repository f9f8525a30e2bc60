package io.tailrace.flink.spans;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.TraceSpan;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.parsing.ParseOutputs;
import io.tailrace.framing.DeadLetterCode;
import java.time.Duration;
import java.time.Instant;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SpanParseOperatorTest {

    private static final OutputTag<DeadLetter> DEAD =
            new OutputTag<>("dead-letters", new AvroTypeInfo<>(DeadLetter.class));
    private static final long NOW_SECOND = 1_795_000_000;
    private static final String SPAN =
            "{\"traceId\":\"%s\",\"spanId\":\"00f067aa0ba902b7\",\"startTimeUnixNano\":\"%d\"}";

    private OneInputStreamOperatorTestHarness<KafkaMessage, TraceSpan> operator;

    @BeforeEach
    void open() throws Exception {
        SpanParseOperator reader = new SpanParseOperator(Duration.ofDays(30), DEAD, "test");
        operator = new OneInputStreamOperatorTestHarness<>(reader, 1, 1, 0);
        operator.open();
        operator.setProcessingTime(NOW_SECOND * 1000);
    }

    @AfterEach
    void close() throws Exception {
        operator.close();
    }

    private void send(long offset, String... spans) throws Exception {
        String json = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" + String.join(",", spans) + "]}]}]}";
        operator.processElement(new KafkaMessage("otlp_spans", 2, offset, new byte[0], json.getBytes(UTF_8)), 0);
    }

    private static String span(String traceId, long second) {
        return SPAN.formatted(traceId, second * 1_000_000_000L);
    }

    @Test
    void goodSpansPassAndTheirMessageIsALetterOfEachComplaint() throws Exception {
        String good = "4bf92f3577b34da6a3ce929d0e0e4736";
        send(7, span(good, NOW_SECOND), span("", NOW_SECOND), span(good, 1), span(good, NOW_SECOND));

        assertThat(operator.extractOutputValues())
                .extracting(TraceSpan::getTraceId)
                .containsExactly(good, good);
        assertThat(operator.getSideOutput(DEAD))
                .extracting(StreamRecord::getValue)
                .allSatisfy(letter -> {
                    assertThat(letter.getLog()).isEqualTo("kafka:otlp_spans/2");
                    assertThat(letter.getEntryOffset()).isEqualTo(7);
                })
                .extracting(DeadLetter::getCode)
                .containsExactlyInAnyOrder(
                        DeadLetterCode.MALFORMED_RECORD.name(), DeadLetterCode.TIME_OUT_OF_RANGE.name());
        assertThat(operator.getSideOutput(DEAD))
                .extracting(record -> record.getValue().getDeadLetterId())
                .doesNotHaveDuplicates();
    }

    @Test
    void aStatementsFingerprintGoesOutOnceAnHour() throws Exception {
        String call = SPAN.replace(
                "\"}",
                "\",\"attributes\":[{\"key\":\"db.system.name\",\"value\":{\"stringValue\":"
                        + "\"mariadb\"}},{\"key\":\"db.query.text\",\"value\":{\"stringValue\":"
                        + "\"SELECT * FROM orders7 WHERE id = %%s AND card = '4111'\"}}]}");
        String span = call.formatted("4bf92f3577b34da6a3ce929d0e0e4736", NOW_SECOND * 1_000_000_000L + 1_999);
        send(1, span, span);
        operator.setProcessingTime((NOW_SECOND + 3_599) * 1000);
        send(2, span);
        operator.setProcessingTime((NOW_SECOND + 3_600) * 1000);
        send(3, span);

        TraceSpan first = operator.extractOutputValues().get(0);
        assertThat(operator.getSideOutput(ParseOutputs.FINGERPRINTS))
                .extracting(StreamRecord::getValue)
                .hasSize(2)
                .allSatisfy(fingerprint -> {
                    assertThat(fingerprint.getQueryId()).isEqualTo(first.getQueryId());
                    assertThat(fingerprint.getFingerprint())
                            .isEqualTo("select * from orders? where id = ? and card = ?");
                    assertThat(fingerprint.getVerb()).isEqualTo("SELECT");
                    assertThat(fingerprint.getTablesRead()).containsExactly("orders?");
                    assertThat(fingerprint.getSeenAt())
                            .isEqualTo(Instant.ofEpochSecond(NOW_SECOND).plusNanos(1_000));
                });
    }

    @Test
    void whatIsNoMessageIsADeadLetter() throws Exception {
        operator.processElement(new KafkaMessage("otlp_spans", 0, 1, new byte[0], "[]".getBytes(UTF_8)), 0);

        assertThat(operator.extractOutputValues()).isEmpty();
        assertThat(operator.getSideOutput(DEAD))
                .extracting(record -> record.getValue().getCode())
                .containsExactly(DeadLetterCode.MALFORMED_MESSAGE.name());
    }
}

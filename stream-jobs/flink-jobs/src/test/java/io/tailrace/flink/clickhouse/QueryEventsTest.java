package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.QueryEvent;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Encodes the events of every format of the kind slowlog for the topic and for the table. Both fail for a mandatory
 * field that a parser did not set, which golden files do not show.
 */
class QueryEventsTest {

    private static final RowBinaryEncoder ROWS =
            new RowBinaryEncoder("tailrace.query_events", QueryEvent.getClassSchema());

    static Stream<LogFormat> formats() {
        return new FormatRegistry()
                .all().stream().filter(format -> FormatRegistry.sourceOf(format).equals("slowlog"));
    }

    @ParameterizedTest
    @MethodSource("formats")
    void everyEventFitsTheTopicAndTheTable(LogFormat format) throws Exception {
        GoldenEvents golden = GoldenEvents.of(format);
        List<QueryEvent> events = golden.queries();
        assertThat(golden.audits()).isEmpty();
        assertThat(events).isNotEmpty();
        RowBinaryBuffer rows = new RowBinaryBuffer(1 << 16);
        for (QueryEvent event : events) {
            assertThat(event.getFormat()).isEqualTo(format.name());
            assertThat(event.getSource()).isEqualTo("slowlog");
            assertThat(QueryEvent.fromByteBuffer(event.toByteBuffer())).isEqualTo(event);
            ROWS.encode(event, 1, rows);
        }
        assertThat(numberOf(rows.toByteArray())).isEqualTo(events.size());
    }

    private static int numberOf(byte[] rows) {
        RowBinaryReader reader = new RowBinaryReader(ROWS.layout(), rows);
        int number = 0;
        while (reader.next()) {
            number++;
        }
        return number;
    }
}

package io.tailrace.detection.dataclass;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.event.DataAccess;
import java.util.List;
import org.junit.jupiter.api.Test;

class DataAccessFactoryTest {

    private static final String ID = "00112233-4455-6677-8899-aabbccddeeff";

    private static DetectionEvent.Builder event() {
        return DetectionEvent.builder(ID, 1_500_000, new LogSource("database", "mysql", "audit"))
                .text("instance", "db1")
                .text("user", "app")
                .text("src_ip", "10.0.0.7")
                .text("query_id", "FFFFFFFFFFFFFFFE")
                .number("connection_id", 7)
                .number("rows_sent", 12)
                .texts("table", List.of("shop.cards"))
                .texts("data_class", List.of("pci"))
                .texts("data_class_read", List.of("pci"))
                .texts("data_basis", List.of("log"))
                .text("data_access", "known");
    }

    @Test
    void holdsWhoTouchedWhatAndHowItIsKnown() {
        DetectionEvent event = event().build();
        event.actionFrom(each -> new ActionReference("first", 0, 0));
        DataAccess access = DataAccessFactory.of(event).orElseThrow();
        assertThat(access.getEventId().bytes()).startsWith(0, 0x11, 0x22).endsWith(0xee, 0xff);
        assertThat(access.getActionId()).isEqualTo("first");
        assertThat(access.getEventTime()).hasToString("1970-01-01T00:00:01.500Z");
        assertThat(access.getQueryId()).isEqualTo(-2);
        assertThat(access.getRowsSent()).isEqualTo(12);
        assertThat(access.getTables()).containsExactly("shop.cards");
        assertThat(access.getDataClass()).containsExactly("pci");
        assertThat(access.getBasis()).containsExactly("log");
        assertThat(access.getMode()).isEqualTo("read");
        assertThat(access.getOutcome()).isEqualTo("unknown");
    }

    @Test
    void distinguishesReadsFromWrites() {
        assertThat(mode(event().texts("data_class_written", List.of("pii")))).isEqualTo("both");
        DetectionEvent unknown = DetectionEvent.builder(ID, 0, LogSource.ANY)
                .text("data_access", "unknown")
                .build();
        assertThat(DataAccessFactory.of(unknown).orElseThrow().getMode()).isEqualTo("unknown");
    }

    private static String mode(DetectionEvent.Builder event) {
        return DataAccessFactory.of(event.build()).orElseThrow().getMode();
    }

    @Test
    void anEventWithoutAClassIsNoAccess() {
        assertThat(DataAccessFactory.of(
                        DetectionEvent.builder(ID, 0, LogSource.ANY).build()))
                .isEmpty();
    }
}

package io.tailrace.cli.input;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.event.AuditEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuditStatementConverterTest {

    private static Integer code(int status, String... flags) {
        AuditEvent event = new AuditEventBuilder().blank();
        event.setEventTime(Instant.EPOCH);
        event.setEventClass("query");
        event.setCommand("Query");
        event.setQueryId(7L);
        event.setVerb("SELECT");
        event.setStatus(status);
        event.setFlags(new ArrayList<>(List.of(flags)));
        return AuditStatementConverter.query(event).getErrorCode();
    }

    @Test
    void aLogWithoutResultsHasNoErrorCode() {
        assertThat(code(0, "status_unknown")).isNull();
        assertThat(code(0)).isZero();
        assertThat(code(1064)).isEqualTo(1064);
    }
}

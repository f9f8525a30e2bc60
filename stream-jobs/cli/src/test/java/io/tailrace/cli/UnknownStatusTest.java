package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.cli.DatabaseOperation.Account;
import io.tailrace.cli.DatabaseOperation.Kind;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.framing.LogFormat;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A record of a command whose status is missing or no number is no success, in any audit format. A new format is covered
 * without a change, because it needs a writer in {@link RenderedLog}.
 */
class UnknownStatusTest {

    /** Occurs nowhere else in a record. */
    private static final int STATUS = 41_973;

    private static final String WRITTEN = "" + STATUS;
    private static final Account APP = new Account("app", "web1", "10.0.0.9");

    /** Damages of the status: missing, no number, negative, cut off with the quotation mark before it, and in a member of another name. */
    private static final List<UnaryOperator<String>> DAMAGES = List.of(
            record -> record.replace(WRITTEN, ""),
            record -> record.replace(WRITTEN, "x"),
            record -> record.replace(WRITTEN, "-1"),
            record -> record.replace(WRITTEN, "null"),
            record -> record.replace(WRITTEN, "\"\""),
            record -> record.replace('"' + WRITTEN + '"', "null"),
            record -> record.replace("'," + WRITTEN, ""),
            record -> record.replace("status", "was").replace("STATUS", "WAS"));

    /** Their parser rejects a statement without a status: only the number after the quotation mark proves where it ends. */
    private static final Set<String> REJECTED = Set.of("mariadb-audit");

    static Stream<String> formats() {
        return AuditFormats.all().stream().map(LogFormat::name);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aRecordWithoutAStatusIsNoSuccess(String format) {
        for (Kind kind : List.of(Kind.LOGIN, Kind.CHANGE_OF_USER, Kind.STATEMENT)) {
            String record = RenderedLog.of(RenderedLog.writers().get(format), List.of(operation(kind)));
            assertThat(record).as("%s of %s: write the status", kind, format).containsOnlyOnce(WRITTEN);
            assertThat(outcomes(format, record)).as(record).containsExactly("failure");
            List<String> found = new ArrayList<>();
            for (UnaryOperator<String> damage : DAMAGES) {
                String damaged = damage.apply(record);
                List<String> outcomes = damaged.equals(record) ? List.of() : outcomes(format, damaged);
                assertThat(outcomes)
                        .as("outcome of %s. Call AuditEventBuilder.status() with the text of the status", damaged)
                        .isSubsetOf("unknown", isNamedFailure(record) ? "failure" : "unknown");
                found.addAll(outcomes);
            }
            assertThat(found.isEmpty())
                    .as("no record of %s without a status is an event. If this is right, REJECTED lists it", format)
                    .isEqualTo(kind == Kind.STATEMENT && REJECTED.contains(format));
        }
    }

    /** MariaDB's FAILED_CONNECT and McAfee's Failed Login state the result by their names: ADR 0092. */
    private static boolean isNamedFailure(String record) {
        return record.contains("FAILED_CONNECT") || record.contains("Failed Login");
    }

    private static DatabaseOperation operation(Kind kind) {
        String statement = kind == Kind.STATEMENT ? "SELECT 1 FROM t" : null;
        Instant time = Instant.parse("2026-11-21T02:49:03Z");
        return new DatabaseOperation(kind, time, 9, APP, "shop", statement, STATUS, List.of(), List.of());
    }

    /** Returns the outcomes of the events; a rejected record has none. */
    private static List<String> outcomes(String format, String record) {
        List<DetectionEvent> events = RenderedEvents.ofDamaged(format, record);
        return events.stream()
                .map(event -> RenderedEvents.texts(event, DatabaseField.OUTCOME))
                .map(texts -> texts.isEmpty() ? "unknown" : texts.get(0))
                .toList();
    }
}

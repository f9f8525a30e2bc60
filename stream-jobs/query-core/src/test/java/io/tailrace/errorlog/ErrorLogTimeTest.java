package io.tailrace.errorlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.testing.GrowthRate;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reading time of hostile logs is proportional to their length. */
@Tag("slow")
class ErrorLogTimeTest {

    private static final String HEADER = "2026-11-21T02:00:01Z 8 [ERROR] ";

    private static final int SMALLEST_BYTES = 32 << 10;
    private static final int MAX_BYTES = 512 << 10;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update x\n",
                "SQL: '\n",
                "'",
                "--password=a ",
                "Duplicate entry '",
                HEADER + "Query: 'SELECT 'open\n",
                HEADER + "Assertion failure\n",
                "=====================================\n",
                "*** (1) TRANSACTION:\nMySQL thread id 1, query id 2 localhost root\n'\n",
                " 0: len 4; hex 80000001; asc     ;;",
                "Query (7f0ac00101d0): SELECT 'a\n",
                "/* ",
            })
    void repeatedText(String text) {
        int fewest = SMALLEST_BYTES / text.length() / 2 * 2;
        int limit = MAX_BYTES / text.length();
        GrowthRate.assertLinear(text, fewest, limit, times -> reading(text.repeat(times)));
        GrowthRate.assertLinear("once more " + text, fewest, limit, times -> reading(text.repeat(times + 1)));
    }

    /** An even number of texts is compared with an even one, because it matters whether the last literal is closed. */
    private static Runnable reading(String text) {
        byte[] file = (HEADER + "Slave SQL\n" + text).getBytes(StandardCharsets.US_ASCII);
        return () -> read(file);
    }

    private static void read(byte[] file) {
        ErrorLogFormat format = new ErrorLogFormat();
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).isEqualTo(file.length);
        EntryParser parser = format.newParser();
        LogOrigin origin = new LogOrigin("main", "db1", "errorlog", format.name(), "UTC", "/error.log");
        for (FramedLog.Frame entry : log.entries()) {
            parser.parse(
                    new LogEntry(origin, 1, entry.from(), file, (int) entry.from(), (int) entry.to(), entry.context()),
                    new Longest());
        }
    }

    /** Stores only the length of the longest message. */
    private static final class Longest implements ParseListener {

        @Override
        public void error(ErrorEvent event) {
            assertThat(event.getMessage().length()).isLessThanOrEqualTo(MessageMask.MAX_LENGTH);
        }

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            throw new AssertionError("an error log has no such event");
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {
            throw new AssertionError("an error log has no such event");
        }

        @Override
        public void rejected(DeadLetterCode code, String message) {
            throw new AssertionError(code + ": " + message);
        }
    }
}

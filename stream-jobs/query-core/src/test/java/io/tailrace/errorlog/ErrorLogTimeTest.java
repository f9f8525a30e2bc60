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
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Logs made to be slow to read are read in time that grows with their length. */
class ErrorLogTimeTest {

    private static final String HEADER = "2026-11-21T02:00:01Z 8 [ERROR] ";

    /** Bytes of each log. */
    private static final int SIZE = 12 << 20;

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
        String file = HEADER + "Slave SQL\n" + text.repeat(SIZE / text.length());
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        read(file.getBytes(StandardCharsets.US_ASCII));
        long spent = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
        assertThat(Duration.ofNanos(spent)).isLessThan(Duration.ofSeconds(20));
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

    /** Looks at the length of messages only. */
    private static final class Longest implements ParseListener {

        @Override
        public void error(ErrorEvent event) {
            assertThat(event.getMessage().length()).isLessThanOrEqualTo(SafeText.LONGEST);
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

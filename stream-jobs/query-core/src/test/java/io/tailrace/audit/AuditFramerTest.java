package io.tailrace.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.tailrace.audit.record.RecordScanner;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogFormat;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The framer rejects entries above the size limit and stray text, and reports every byte exactly once. */
class AuditFramerTest implements FrameListener {

    private static final int LIMIT = EntryLimits.MAX_ENTRY_LENGTH;
    private static final int LOGS = 100;
    private static final int MEGABYTE = 1 << 20;
    private static final String RECORD = " <AUDIT_RECORD>\n";
    private static final String RECORD_END = " </AUDIT_RECORD>\n";

    private final List<String> reports = new ArrayList<>();
    private EntryFramer framer;
    private long offset;
    private long reported;

    @BeforeEach
    void start() {
        framer = format("mysql-enterprise-audit-xml-new").newFramer();
    }

    private static LogFormat format(String name) {
        return new FormatRegistry()
                .all().stream()
                        .filter(format -> format.name().equals(name))
                        .findAny()
                        .orElseThrow();
    }

    /** A job keeps the framers of a thousand idle logs, and of all logs with lines since the last checkpoint. */
    @Test
    void anOpenLogTakesFewKilobytes() {
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        LogFormat format = format("percona-audit-json");
        byte[] record =
                "{\"audit_record\":{\"name\":\"Quit\",\"record\":\"1_2\",\"connection_id\":\"7\",\"db\":\"shop\"}}\n"
                        .getBytes(StandardCharsets.UTF_8);
        long before = 0;
        for (int log = -1; log < LOGS; log++) {
            before = log == 0 ? thread.getCurrentThreadAllocatedBytes() : before; // the first one loads classes
            format.newFramer().line(record, 0, record.length, 0, this);
            reported = 0;
        }
        assertThat((thread.getCurrentThreadAllocatedBytes() - before) / LOGS).isLessThan(24 << 10);
    }

    @Test
    void aLineOfTheLimitIsAnEntryAndALongerOneIsNot() {
        framer = format("mariadb-audit").newFramer();
        feed(filled(LIMIT));
        feed(filled(LIMIT + 1));
        offset = framer.line(filled(LIMIT + 1), 1, LIMIT + 1, offset, this);

        assertThat(reports).containsExactly("entry " + LIMIT, "ENTRY_TOO_LARGE " + (LIMIT + 1), "entry " + LIMIT);
    }

    @Test
    void aRecordOfTheLimitIsAnEntryAndALongerOneIsNot() {
        for (int bytes : List.of(LIMIT, LIMIT + 1)) {
            feed(RECORD);
            fill(bytes - RECORD.length() - RECORD_END.length());
            feed(RECORD_END);
        }
        feed(RECORD);
        feed(RECORD_END);

        assertThat(reports)
                .containsExactly(
                        "entry " + LIMIT,
                        "ENTRY_TOO_LARGE " + (LIMIT + 1),
                        "entry " + (RECORD.length() + RECORD_END.length()));
    }

    @Test
    void aScannerThatFindsItsOwnRecordAgainIsRefused() {
        framer = new RecordFramer(new RepeatingScanner());

        assertThatThrownBy(() -> feed(RECORD))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("RepeatingScanner.inside: expected the start of another record");
    }

    /** Finds each record twice: outside of records, and again as the start of another one within it. */
    private static final class RepeatingScanner implements RecordScanner {

        private int next;

        @Override
        public Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching) {
            next = at;
            return Found.RECORD;
        }

        @Override
        public Ended inside(byte[] buffer, int lineFrom, int at, int to) {
            next = at;
            return Ended.BROKEN_OFF;
        }

        @Override
        public int next() {
            return next;
        }

        @Override
        public int stateBytes() {
            return 0;
        }

        @Override
        public void save(ByteBuffer out) {
            // There is no state.
        }

        @Override
        public void restore(ByteBuffer in) {
            // There is no state.
        }
    }

    @Test
    void aRecordThatDoesNotEndIsGivenUpAndTheNextIsFound() {
        feed(RECORD);
        fill(LIMIT - RECORD.length());
        assertThat(framer.pendingFrom()).isZero();
        feed(filled(1000));
        assertThat(framer.pendingFrom()).isEqualTo(offset);
        feed(filled(100));
        feed(RECORD);
        feed(RECORD_END);

        assertThat(reports)
                .containsExactly(
                        "ENTRY_TOO_LARGE " + (LIMIT + 1000),
                        "NO_ENTRY_START 100",
                        "entry " + (RECORD.length() + RECORD_END.length()));
    }

    /** Its end was found, so that the next line is not searched for the start of a record. */
    @Test
    void textAfterALongRecordIsStray() {
        feed(RECORD);
        fill(LIMIT - RECORD.length() - RECORD_END.length() + 1);
        feed(RECORD_END);
        feed(filled(100));
        framer.end(this);

        assertThat(reports).containsExactly("ENTRY_TOO_LARGE " + (LIMIT + 1), "STRAY_TEXT 100");
    }

    @Test
    void strayTextIsReportedMegabyteByMegabyte() {
        feed(RECORD);
        feed(RECORD_END);
        reports.clear();
        feed(filled(MEGABYTE - 1));
        assertThat(reports).isEmpty();
        feed(filled(1000));
        feed(filled(MEGABYTE));

        assertThat(reports).containsExactly("STRAY_TEXT " + (MEGABYTE + 999), "STRAY_TEXT " + MEGABYTE);
        assertThat(framer.pendingFrom()).isEqualTo(offset);
    }

    @Test
    void afterAHoleTextIsNotStrayButWithoutAStart() {
        feed(RECORD);
        feed(RECORD_END);
        reports.clear();
        offset += 5000;
        framer.hole(offset, this);
        reported = offset;
        feed(filled(100));
        framer.end(this);

        assertThat(reports).containsExactly("NO_ENTRY_START 100");
    }

    /** Feeds lines of a record with this total number of bytes. */
    private void fill(int bytes) {
        for (int left = bytes; left > 0; left -= MEGABYTE) {
            feed(filled(Math.min(left, MEGABYTE)));
        }
    }

    private static byte[] filled(int length) {
        byte[] line = new byte[length];
        Arrays.fill(line, (byte) 'x');
        line[length - 1] = '\n';
        return line;
    }

    private void feed(String line) {
        feed(line.getBytes(StandardCharsets.UTF_8));
    }

    private void feed(byte[] line) {
        offset = framer.line(line, 0, line.length, offset, this);
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        report("entry", from, to);
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        report(kind.name(), from, to);
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        report(code.name(), from, to);
    }

    private void report(String what, long from, long to) {
        assertThat(from).as(what + " begins where the last report ended").isEqualTo(reported);
        reported = to;
        reports.add(what + ' ' + (to - from));
    }
}

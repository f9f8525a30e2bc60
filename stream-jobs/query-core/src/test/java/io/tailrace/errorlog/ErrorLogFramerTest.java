package io.tailrace.errorlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Where the framer of error logs ends an entry that the log itself does not end. */
class ErrorLogFramerTest {

    private static final String HEADER = "2026-11-21T02:49:00.000000Z 8 [Note] ";
    private static final int LINE = 64 << 10;
    private static final String RULE = "=".repeat(LINE - 1) + "\n";

    private final ErrorLogFormat format = new ErrorLogFormat();

    private FramedLog read(String text) {
        byte[] file = text.getBytes(StandardCharsets.ISO_8859_1);
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).isEqualTo(file.length);
        return log;
    }

    @Test
    void linesOfEqualsSignsAreCutAtTheLimits() {
        assertThat(read(RULE.repeat(40)).rejections())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, EntryLimits.MAX_REJECTION_LENGTH));
        assertThat(read(HEADER + "a\n" + RULE.repeat(80)).entries())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, ErrorLogFramer.MAX_ENTRY_LENGTH));
    }

    @Test
    void aDeadlockWithoutEndIsCutAtTheLimit() {
        String line = HEADER + "InnoDB: *** " + "x".repeat(LINE - 100) + "\n";
        assertThat(read(line.repeat(80)).entries())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, ErrorLogFramer.MAX_ENTRY_LENGTH));
    }

    @Test
    void afterAHoleLinesWithoutTimeGetTheNextTime() {
        String before = HEADER + "a\n";
        String lost = "lost\n";
        String after = "the rest of a message\n2026-11-21T02:50:00.000000Z 8 [Note] b\n";
        byte[] file = (before + lost + after).getBytes(StandardCharsets.ISO_8859_1);
        FramedLog log = FramedLog.withHole(format, file, before.length(), before.length() + lost.length());
        assertThat(log.entries())
                .extracting(entry -> entry.context().timeLine())
                .containsExactly("", "2026-11-21T02:50:00.000000Z", "");
    }

    private static void assertSize(Frame part, int limit) {
        assertThat(part.to() - part.from()).isLessThanOrEqualTo(limit + LINE);
    }
}

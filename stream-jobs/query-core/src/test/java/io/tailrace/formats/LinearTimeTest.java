package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.testing.GrowthRate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No text of a client makes a framer or parser slow: any repetition within an entry is read in linear time. */
@Tag("slow")
class LinearTimeTest {

    private static final int MEGABYTE = 1 << 20;
    /** Exceeds what is read after an entry that does not end. */
    private static final int SMALLEST = 32 << 10;

    private static final int MAX_SIZE = 512 << 10;
    /** The largest entries that are read, minus the text around a statement. */
    private static final int MAX_STATEMENT_LENGTH = 60 * MEGABYTE;

    /** Largest file of a text that comes from golden inputs: there are many, and quadratic work shows at this size. */
    private static final int MAX_SIZE_OF_OWN = 128 << 10;

    private static final int OWN_WORDS = 12;
    private static final int OTHER_OWN_TEXTS = 3;

    /** Texts that are repeated after the start of an entry, in every format. */
    // spotless:off
    private static final List<String> REPEATED = List.of(
        "x", "'", "\"", "\\", "/*", "{", "<", "(", "'a',", "select 'a", "\n", "--\n", "BEGIN\n");

    /** The same, for one format: texts that resemble the start of an entry or the end of a literal. */
    private static final Map<String, List<String>> REPEATED_IN_FORMAT = Map.of(
        "mysql-slow", List.of("# User@Host: a[a] @ b []\n# Query_time: 1\nSET timestamp=1;\n"),
        "mysql-general", List.of("2026-11-21T02:49:03.496201Z\t 8 Query\t'"),
        "mysql-error", List.of("2026-11-21T02:49:03.496201Z 8 [Note] 'a\n", "' at line "),
        "mariadb-audit", List.of(",1,2,QUERY,"),
        "mariadb-audit-syslog", List.of(",1,2,QUERY,"),
        "aurora-audit", List.of(",1,2,QUERY,"));
    // spotless:on

    /** Texts that are repeated within a statement, as a client may send them. */
    // spotless:off
    private static final List<String> REPEATED_IN_STATEMENTS = List.of(
        "'", "\"", "`", "\\", "(", "{", "a.b.", ";a", "a,b c,", "END;", "/*!", "*/", "\n", "--\n", "$$", "--auth ",
        "(select a from t where b in ", "a join b ", "' for key ", ", Error_code: ", "timestamp\"", "&#10;", "\u0000");
    // spotless:on

    static List<LogFormat> formats() {
        return new FormatRegistry().all();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void twiceAsMuchOfAnythingTakesTwiceAsLong(LogFormat format) throws IOException {
        for (String repeated : repeated(format)) {
            check(format, repeated, SMALLEST, MAX_SIZE);
        }
    }

    /** A new format is covered without a list, because its golden inputs contain what its framer searches for. */
    @ParameterizedTest
    @MethodSource("formats")
    void twiceAsMuchOfItsOwnTextsTakesTwiceAsLong(LogFormat format) throws IOException {
        List<String> own = FormatTexts.of(format, OWN_WORDS, OTHER_OWN_TEXTS);
        assertThat(own)
                .as("texts that recur in the golden inputs of " + format.name() + ": add cases with more entries")
                .hasSizeGreaterThan(OWN_WORDS);
        for (String repeated : own) {
            check(format, repeated, SMALLEST, MAX_SIZE_OF_OWN);
        }
    }

    private static List<String> repeated(LogFormat format) {
        return Stream.concat(REPEATED.stream(), REPEATED_IN_FORMAT.getOrDefault(format.name(), List.of()).stream())
                .toList();
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("formats")
    void tenMegabytesOfAnything(LogFormat format) throws IOException {
        for (String repeated : repeated(format)) {
            check(format, repeated, 5 * MEGABYTE, 10 * MEGABYTE);
        }
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("formats")
    void aHundredMegabytesOnOneLine(LogFormat format) throws IOException {
        for (String repeated : repeated(format)) {
            if (repeated.indexOf('\n') < 0) {
                check(format, repeated, 50 * MEGABYTE, 100 * MEGABYTE);
            }
        }
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void theLongestStatementThatIsRead(LogWriter writer) {
        for (String repeated : REPEATED_IN_STATEMENTS) {
            String before = writer.before() + "SELECT ";
            byte[] part = writer.escaped(repeated).getBytes(StandardCharsets.UTF_8);
            byte[] behind = writer.behind().getBytes(StandardCharsets.UTF_8);
            GrowthRate.assertLinear(
                    writer.format() + ", " + repeated,
                    MAX_STATEMENT_LENGTH / part.length / 2,
                    MAX_STATEMENT_LENGTH / part.length,
                    times -> reading(writer.logFormat(), statement(before, part, times, behind)));
        }
    }

    private static byte[] statement(String before, byte[] part, int times, byte[] behind) {
        byte[] file = Arrays.copyOf(
                before.getBytes(StandardCharsets.UTF_8), before.length() + times * part.length + behind.length);
        fill(file, before.length(), part);
        System.arraycopy(behind, 0, file, file.length - behind.length, behind.length);
        return file;
    }

    private static void check(LogFormat format, String repeated, int smallest, int largest) throws IOException {
        byte[] start = start(format);
        GrowthRate.assertLinear(format.name() + ", " + repeated, smallest, largest, length -> {
            byte[] file = Arrays.copyOf(start, length);
            fill(file, start.length, repeated.getBytes(StandardCharsets.ISO_8859_1));
            return reading(format, file);
        });
    }

    private static Runnable reading(LogFormat format, byte[] file) {
        return () -> {
            Reading reading = new Reading(format, file);
            reading.readAll();
            assertThat(reading.reported).isEqualTo(file.length);
        };
    }

    private static void fill(byte[] file, int from, byte[] repeated) {
        for (int i = from; i < file.length; i++) {
            file[i] = repeated[(i - from) % repeated.length];
        }
    }

    /** Frames a file and parses its entries immediately. */
    private static final class Reading implements FrameListener {

        private final LogFormat format;
        private final byte[] file;
        private final EntryParser parser;
        private final LogOrigin origin;
        private long reported;

        Reading(LogFormat format, byte[] file) {
            this.format = format;
            this.file = file;
            parser = format.newParser();
            origin = new LogOrigin("main", "db1", FormatRegistry.sourceOf(format), format.name(), "UTC", "/db1.log");
        }

        void readAll() {
            EntryFramer framer = format.newFramer();
            int at = 0;
            while (at < file.length) {
                int to = Math.min(ByteText.lineFeed(file, at, file.length) + 1, file.length);
                at = (int) framer.line(file, at, to, at, this);
            }
            framer.end(this);
        }

        @Override
        public void entry(long from, long to, EntryContext context) {
            reported += to - from;
            parser.parse(new LogEntry(origin, 1, from, file, (int) from, (int) to, context), IGNORED);
        }

        @Override
        public void framing(long from, long to, FramingKind kind) {
            reported += to - from;
        }

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {
            reported += to - from;
        }
    }

    private static final ParseListener IGNORED = new ParseListener() {
        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {}

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {}

        @Override
        public void error(ErrorEvent event) {}

        @Override
        public void rejected(DeadLetterCode code, String message) {}
    };

    /**
     * Returns a golden file's first bytes, up to the middle of its last record, so that an entry is open at the end.
     */
    private static byte[] start(LogFormat format) throws IOException {
        byte[] file = Files.readAllBytes(GoldenInputs.cases(format).get(0).resolve("input.log"));
        List<FramedLog.Frame> entries = FramedLog.of(format, file).entries();
        FramedLog.Frame last = entries.get(entries.size() - 1);
        return Arrays.copyOf(file, (int) (last.from() + last.to()) / 2);
    }
}

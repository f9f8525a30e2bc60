package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.event.AuditEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import io.tailrace.testing.GrowthRate;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Properties of every audit log, however it is cut or changed, and with planted secrets. */
class AuditPropertiesTest {

    private static final String MARKS = "\"'<>&;{}[],:\\\n\r/# A0\0\377";
    private static final int SMALLEST = 8 << 10;
    private static final int MAX_SIZE = 64 << 10;
    private static final int MAX_RECORD = 32 << 10;

    private final AvroJsonWriter json = new AvroJsonWriter();

    /** A golden input and its format. */
    record Sample(String format, String name, byte[] file) {

        @Override
        public String toString() {
            return format + "/" + name;
        }

        LogFormat logFormat() {
            return new FormatRegistry().named(format).orElseThrow();
        }
    }

    static List<LogFormat> formats() {
        return AuditFormats.all();
    }

    static List<Sample> samples() {
        List<Sample> samples = new ArrayList<>();
        for (LogFormat format : formats()) {
            for (Path path : GoldenInputs.cases(format)) {
                samples.add(new Sample(format.name(), path.getFileName().toString(), input(path)));
            }
        }
        return samples;
    }

    private static byte[] input(Path directory) {
        try {
            return Files.readAllBytes(directory.resolve("input.log"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aRestoreAfterEveryLineChangesNothing(Sample sample) {
        LogFormat format = sample.logFormat();
        assertThat(FramedLog.ofRestored(format, sample.file()).frames())
                .isEqualTo(FramedLog.of(format, sample.file()).frames());
    }

    /** If a file is cut anywhere, the events before the cut are those of the whole file, with the same ids. */
    @ParameterizedTest
    @MethodSource("samples")
    void eventsOfAGrowingFileDoNotChange(Sample sample) {
        LogFormat format = sample.logFormat();
        List<String> whole = events(format, sample.file());
        Random random = new Random(sample.toString().hashCode());
        for (int round = 0; round < 60; round++) {
            int length = random.nextInt(sample.file().length + 1);
            byte[] part = Arrays.copyOf(sample.file(), length);
            FramedLog log = FramedLog.of(format, part);
            assertThat(log.reported()).isEqualTo(length);
            List<String> events = events(format, part);
            // The last one may lack bytes that do not matter to its framer, such as a comma or the rest of a line.
            int sure = Math.max(0, events.size() - 1);
            assertThat(whole).containsAll(events.subList(0, sure));
        }
    }

    private List<String> events(LogFormat format, byte[] file) {
        List<String> events = new ArrayList<>();
        for (Parsed.Outcome outcome : Parsed.of(format, FramedLog.of(format, file))) {
            if (outcome.event() != null) {
                events.add(json.write(outcome.event()));
            }
        }
        return events;
    }

    @Test
    void theLastRecordOfAnOpenArrayHasTheIdThatItKeeps() throws IOException {
        Path path = GoldenInputs.GOLDEN.resolve("percona-audit-filter-json/every-class/input.log");
        String closed = Files.readString(path);
        String open = closed.substring(0, closed.indexOf("\n  },") + "\n  }".length());
        LogFormat format =
                new FormatRegistry().named("percona-audit-filter-json").orElseThrow();
        String first = events(format, closed.getBytes(StandardCharsets.UTF_8)).get(0);
        String only = events(format, open.getBytes(StandardCharsets.UTF_8)).get(0);
        assertThat(only.substring(0, 60)).isEqualTo(first.substring(0, 60));
    }

    /**
     * There are two exceptions: one-line records of Percona's filter and of MySQL Enterprise can be identical, and
     * the tail of a system log's line is what the plugin writes into a file.
     */
    @ParameterizedTest
    @MethodSource("samples")
    void aFileThatStartsAnywhereIsOfItsFormatOrUnknown(Sample sample) {
        boolean undecided = sample.name().equals("jsonl") || sample.format().endsWith("syslog");
        int step = Math.max(1, sample.file().length / 400);
        for (int from = 0; from < sample.file().length && !undecided; from += step) {
            byte[] head = Arrays.copyOfRange(sample.file(), from, sample.file().length);
            Optional<String> found =
                    new FormatRegistry().detect("audit", "auto", head).map(LogFormat::name);
            assertThat(found.orElse(sample.format())).as("from " + from).isEqualTo(sample.format());
        }
    }

    @Test
    void aSourceNarrowsTheChoice() {
        for (Sample sample : samples()) {
            assertThat(new FormatRegistry().detect("slowlog", "auto", sample.file()))
                    .isEmpty();
        }
    }

    @Test
    void changedBytesAreReadToTheLastAndNeverThrow() {
        Random random = new Random(20261121);
        List<LogFormat> formats = formats();
        for (Sample sample : samples()) {
            for (int round = 0; round < 40; round++) {
                byte[] file = sample.file().clone();
                for (int change = random.nextInt(30); change >= 0; change--) {
                    file[random.nextInt(file.length)] = (byte) MARKS.charAt(random.nextInt(MARKS.length()));
                }
                check(sample.logFormat(), file);
                check(formats.get(random.nextInt(formats.size())), file);
            }
        }
    }

    private static void check(LogFormat format, byte[] file) {
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).isEqualTo(file.length);
        assertThat(FramedLog.ofRestored(format, file).frames()).isEqualTo(log.frames());
        assertThat(Parsed.of(format, log)).hasSameSizeAs(log.entries());
    }

    /** Records next to a hole are lost with it, and nothing else; every other byte is reported. */
    @Test
    void aHoleCostsTheRecordsThatItTouches() {
        Random random = new Random(5);
        for (Sample sample : samples()) {
            LogFormat format = sample.logFormat();
            List<String> mayBeFound = new ArrayList<>(events(format, sample.file()));
            mayBeFound.addAll(eventsByThemselves(format, sample.file()));
            for (int round = 0; round < 25; round++) {
                int from = lineStart(sample.file(), random.nextInt(sample.file().length));
                int to = lineStart(sample.file(), from + random.nextInt(sample.file().length - from));
                FramedLog log = FramedLog.withHole(format, sample.file(), from, Math.max(from, to));
                List<String> found = new ArrayList<>();
                for (Parsed.Outcome outcome : Parsed.of(format, log)) {
                    found.add(outcome.event() == null ? "" : json.write(outcome.event()));
                }
                found.removeIf(String::isEmpty);
                assertThat(mayBeFound)
                        .as(sample + " without " + from + " to " + to)
                        .containsAll(found);
            }
        }
    }

    /** Returns events without the values that they inherit from earlier ones, which a hole may have removed. */
    private List<String> eventsByThemselves(LogFormat format, byte[] file) {
        List<String> events = new ArrayList<>();
        for (Parsed.Outcome outcome : Parsed.of(format, FramedLog.of(format, file))) {
            if (outcome.event() instanceof AuditEvent event && event.getFlags().remove("database_inherited")) {
                event.setDatabase("");
                events.add(json.write(event));
            }
        }
        return events;
    }

    private static int lineStart(byte[] file, int at) {
        int start = at;
        while (start > 0 && file[start - 1] != '\n') {
            start--;
        }
        return start;
    }

    @Test
    void filesGluedTogetherAnywhereLoseOneRecordAtMost() {
        Random random = new Random(3);
        for (Sample sample : samples()) {
            LogFormat format = sample.logFormat();
            int whole = events(format, sample.file()).size();
            for (int round = 0; round < 20; round++) {
                int cut = random.nextInt(sample.file().length);
                ByteArrayOutputStream glued = new ByteArrayOutputStream();
                glued.write(sample.file(), 0, cut);
                glued.writeBytes("\n".getBytes(StandardCharsets.US_ASCII));
                glued.writeBytes(sample.file());
                int before = events(format, Arrays.copyOf(sample.file(), cut)).size();
                int found = events(format, glued.toByteArray()).size();
                assertThat(found).as(sample + " cut at " + cut).isGreaterThanOrEqualTo(before - 1 + whole - 1);
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"",
                "<",
                ">",
                "{",
                "}",
                "[",
                ",",
                "'",
                "&",
                "&#1",
                "\\",
                "<?xml",
                "<AUDIT_RECORD",
                "<AUDIT_RECORD>",
                "<AUDIT_RECORD A=\"",
                "</AUDIT",
                "{\"a\":",
                "{\"timestamp\":\"",
                "\"A\",\"1_\",",
                ",1,1,QUERY,",
                ",1,1,READ,",
                ",1,1,QUERY,a,'",
                "A=\"",
                "/>",
                " ",
                "a",
                "\n",
                " \n",
                "[\n",
                "{\n",
                "\"\n",
                "<a>",
                "#012",
                "a: ",
            })
    void timeIsLinear(String piece) {
        for (String opening : List.of(
                "",
                "<AUDIT_RECORD\n NAME=\"",
                "<AUDIT_RECORD><A>",
                "{ \"timestamp\": \"",
                "\"Query\",\"1_\",\"",
                "20261121 02:44:18,h,u,h,1,1,QUERY,d,'",
                "{\"audit_record\":{\"sqltext\":\"")) {
            for (LogFormat format : formats()) {
                GrowthRate.assertLinear(
                        format.name() + ", " + opening + ", " + piece,
                        SMALLEST,
                        opening.isEmpty() ? MAX_SIZE : MAX_RECORD,
                        size -> reading(format, repeated(opening, piece, size)));
            }
            new FormatRegistry().detect("audit", "auto", repeated(opening, piece, MAX_SIZE));
        }
    }

    private static byte[] repeated(String opening, String piece, int size) {
        return (opening + piece.repeat(size / piece.length())).getBytes(StandardCharsets.US_ASCII);
    }

    private static Runnable reading(LogFormat format, byte[] file) {
        return () -> {
            FramedLog log = FramedLog.of(format, file);
            Parsed.of(format, log);
            assertThat(log.reported()).isEqualTo(file.length);
        };
    }
}

package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares every sample of Percona Toolkit for which the result of its own parser is known, field by field. {@code
 * percona-toolkit-differences.txt} lists all differences with their reasons; a difference that no longer exists is an
 * error, too.
 */
class PerconaToolkitTest {

    private static final String SAMPLES = "third-party/slow/percona-toolkit/samples/";
    private static final String EXPECTED = "third-party/slow/percona-toolkit/expected";
    private static final Path DIFFERENCES = Path.of("src/test/resources/percona-toolkit-differences.txt");

    /** Prepended to samples without any time, which servers do not write: an event needs one. */
    private static final byte[] ANY_TIME = "# Time: 071015 21:43:52\n".getBytes(StandardCharsets.US_ASCII);

    private static final DateTimeFormatter OLD_TIME = DateTimeFormatter.ofPattern("yyMMdd ppH:mm:ss");

    private static final Map<String, String> PLAN_FLAGS = Map.of(
            "Full_scan", "full_scan",
            "Full_join", "full_join",
            "Tmp_table", "tmp_table",
            "Tmp_table_on_disk", "tmp_table_on_disk",
            "Filesort", "filesort",
            "Filesort_on_disk", "filesort_on_disk",
            "QC_Hit", "query_cache_hit");

    private final LogFormat format = new FormatRegistry().named("mysql-slow").orElseThrow();

    @Test
    void everySampleIsReadAsItsOwnerReadsIt() throws IOException {
        TreeSet<String> differences = new TreeSet<>();
        List<Path> files = Corpora.files(EXPECTED, ".expected.json");
        for (Path file : files) {
            String name = file.getFileName().toString();
            compare(name.substring(0, name.length() - ".00.expected.json".length()), file, differences);
        }
        assertThat(files).hasSize(20);
        assertThat(differences).isEqualTo(listed());
    }

    private static TreeSet<String> listed() throws IOException {
        TreeSet<String> listed = new TreeSet<>();
        for (String line : Files.readAllLines(DIFFERENCES)) {
            if (!line.startsWith("#") && !line.isBlank()) {
                String[] cells = line.split(" *\\| *");
                assertThat(cells).as(line).hasSize(3);
                listed.add(cells[0] + " " + cells[1]);
            }
        }
        return listed;
    }

    private void compare(String sample, Path expectation, TreeSet<String> differences) throws IOException {
        JsonNode expected = new ObjectMapper().readTree(expectation.toFile()).get("result");
        byte[] file = Corpora.read(SAMPLES + sample);
        int before = hasTime(file) ? 0 : ANY_TIME.length;
        byte[] read = before == 0 ? file : concatenated(ANY_TIME, file);
        List<Parsed.Outcome> outcomes = Parsed.of(format, FramedLog.of(format, read));
        assertThat(outcomes).as(sample).hasSize(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            assertThat(outcomes.get(i).event()).as(sample).isInstanceOf(QueryEvent.class);
            compare(sample, expected.get(i), new Entry(outcomes.get(i), before), differences);
        }
    }

    private static boolean hasTime(byte[] file) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        return text.startsWith("# Time: ") || text.contains("\n# Time: ") || text.contains("timestamp=");
    }

    private static byte[] concatenated(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    private static void compare(String sample, JsonNode expected, Entry entry, TreeSet<String> differences) {
        for (Iterator<String> fields = expected.fieldNames(); fields.hasNext(); ) {
            String field = fields.next();
            if (!entry.agrees(field, expected.path(field).asText())) {
                differences.add(sample + " " + field);
            }
        }
    }

    /** One event; its fields are found by the other parser's names. */
    private record Entry(Parsed.Outcome outcome, int prefix) {

        QueryEvent event() {
            return (QueryEvent) outcome.event();
        }

        boolean agrees(String field, String expected) {
            return switch (field) {
                case "arg" -> expected.equals(argument());
                case "bytes" -> expected.equals("" + argument().getBytes(StandardCharsets.UTF_8).length);
                case "cmd" -> expected.equals(event().getVerb().equals("ADMIN") ? "Admin" : "Query");
                case "db", "Schema" -> expected.equals(event().getDatabase());
                case "host" -> expected.equals(event().getHost());
                case "ip" -> expected.equals(event().getIp());
                case "user" -> expected.equals(event().getUser());
                case "pos_in_log" -> isOffset(Long.parseLong(expected));
                case "ts" -> seconds(expected) == event().getEventTime().getEpochSecond();
                case "timestamp" -> Long.parseLong(expected)
                        == event().getEventTime().getEpochSecond();
                case "Thread_id" -> Long.parseLong(expected) == event().getConnectionId();
                case "Query_time" -> Double.parseDouble(expected) == event().getQueryTime();
                case "Lock_time" -> Double.parseDouble(expected) == event().getLockTime();
                case "Rows_sent" -> Long.parseLong(expected) == event().getRowsSent();
                case "Rows_examined" -> Long.parseLong(expected) == event().getRowsExamined();
                case "Rows_affected" -> expected.equals("" + event().getRowsAffected());
                case "Bytes_sent" -> expected.equals("" + event().getBytesSent());
                case "Last_errno" -> expected.equals("" + event().getErrorCode());
                default -> planFlagOrAttribute(field, expected);
            };
        }

        /**
         * Returns whether the offset is plausible. Percona's parser searches for a line feed and a number sign, and
         * starts at either.
         */
        private boolean isOffset(long expected) {
            long offset = Math.max(0, event().getEntryOffset() - prefix);
            return expected == offset || offset > 0 && expected == offset + 1;
        }

        private boolean planFlagOrAttribute(String field, String expected) {
            String flag = PLAN_FLAGS.get(field);
            return flag == null
                    ? expected.equals(event().getAttributes().get(field))
                    : expected.equals("Yes") == event().getPlanFlags().contains(flag);
        }

        private String argument() {
            return outcome.statement();
        }

        private static long seconds(String time) {
            DateTimeFormatter form = time.contains("T") ? DateTimeFormatter.ISO_LOCAL_DATE_TIME : OLD_TIME;
            return LocalDateTime.parse(time, form).toEpochSecond(ZoneOffset.UTC);
        }
    }
}

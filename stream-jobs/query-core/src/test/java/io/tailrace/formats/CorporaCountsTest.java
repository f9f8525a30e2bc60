package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks the number of events and the dead letters of every log of the corpora against {@code corpora-counts.txt},
 * which has a line per file. Unlisted and missing files are errors, too. To accept an intended change, run with
 * {@code -Dgolden.update=true} and review the difference.
 */
@Tag("slow")
class CorporaCountsTest {

    private static final Path TABLE = Path.of("src/test/resources/corpora-counts.txt");
    private static final String HEAD =
            """
            # The result for every log of the corpora: file | format | events | dead letters | flags that doubt a reading.
            # Counted with grep and by eye when a line was added; `-` is none.

            """;
    private static final List<String> DOUBTS =
            List.of("forged_header", "framing_ambiguous", "time_overflow", "truncated", "repaired", "user_ambiguous");

    private static final List<String> DIRECTORIES = List.of(
            "ours/slow",
            "ours/audit",
            "ours/error",
            "ours/large",
            "third-party/slow",
            "third-party/audit",
            "third-party/error");

    @Test
    void everyFileGivesItsEventsAndDeadLetters() throws IOException {
        StringBuilder found = new StringBuilder(HEAD);
        Path root = Corpora.directory("ours").getParent();
        for (String directory : DIRECTORIES) {
            for (Path path : Corpora.files(directory, "")) {
                String name = root.relativize(path).toString();
                if (isLog(name)) {
                    found.append(name)
                            .append(" | ")
                            .append(counts(name, read(path)))
                            .append('\n');
                }
            }
        }
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(TABLE, found);
        }
        assertThat(found.toString().lines()).containsExactlyElementsOf(Files.readAllLines(TABLE));
    }

    /**
     * Returns whether a file is a log: settings, licences, other parsers' results and test scripts are in the same
     * directories.
     */
    private static boolean isLog(String name) {
        boolean beside = name.endsWith(".cnf")
                || name.contains("LICENSE")
                || name.contains("COPYING")
                || name.endsWith("-expected.json")
                || name.contains("/expected/")
                || name.contains("/golden")
                || name.contains("mariadb-tests/")
                || name.contains("percona-tests/")
                || name.endsWith("patterns.txt")
                || name.endsWith(".tsv")
                || name.contains("-test-results");
        return !beside;
    }

    private static byte[] read(Path path) throws IOException {
        byte[] bytes = Corpora.read(path);
        if (!path.toString().endsWith(".gz")) {
            return bytes;
        }
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        }
    }

    private static String counts(String name, byte[] file) {
        byte[] head = Arrays.copyOf(file, Math.min(file.length, 64 << 10));
        Optional<LogFormat> detected = new FormatRegistry().detect("", "auto", head);
        if (detected.isEmpty()) {
            return "none | 0 | - | -";
        }
        LogFormat format = detected.get();
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).as(name).isEqualTo(file.length);
        Map<String, Integer> letters = new TreeMap<>();
        log.rejections().forEach(frame -> letters.merge(frame.code().name(), 1, Integer::sum));
        Map<String, Integer> doubts = new TreeMap<>();
        int[] events = {0};
        Parsed.each(format, log, outcome -> {
            if (outcome.event() == null) {
                letters.merge(outcome.code().name(), 1, Integer::sum);
            } else {
                events[0]++;
                flags(outcome.event()).stream()
                        .filter(DOUBTS::contains)
                        .forEach(flag -> doubts.merge(flag, 1, Integer::sum));
            }
        });
        return format.name() + " | " + events[0] + " | " + text(letters) + " | " + text(doubts);
    }

    private static List<String> flags(SpecificRecord event) {
        List<String> flags = new ArrayList<>();
        ((List<?>) event.get(event.getSchema().getField("flags").pos())).forEach(flag -> flags.add(flag.toString()));
        return flags;
    }

    private static String text(Map<String, Integer> counts) {
        List<String> parts = new ArrayList<>();
        counts.forEach((code, count) -> parts.add(code + " " + count));
        return parts.isEmpty() ? "-" : String.join(", ", parts);
    }
}

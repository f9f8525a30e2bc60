package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The result for each input under {@code golden/<format>/<case>}: one JSON object for each event, rejection and framing,
 * in file order. To accept an intended change, run with {@code -Dgolden.update=true} and review the difference. The update
 * accepts a wrong result, too: CONTRIBUTING.md, "Add a log format", lists what is correct.
 */
class GoldenTest {

    private static final boolean UPDATE = Boolean.getBoolean("golden.update");

    @TestFactory
    Stream<DynamicTest> everyCaseIsReadAsExpected() {
        return cases().map(path -> DynamicTest.dynamicTest(name(path), () -> check(path)));
    }

    private static Stream<Path> cases() {
        return GoldenInputs.directories(GoldenInputs.GOLDEN).stream()
                .flatMap(format -> GoldenInputs.directories(format).stream());
    }

    private static String format(Path directory) {
        return directory.getParent().getFileName().toString();
    }

    private static String name(Path directory) {
        return format(directory) + "/" + directory.getFileName();
    }

    private static void check(Path directory) throws IOException {
        Optional<LogFormat> format = new FormatRegistry().named(format(directory));
        assertThat(format)
                .as("the format " + format(directory) + " of FormatRegistry, for which there are golden inputs")
                .isPresent();
        byte[] input = Files.readAllBytes(directory.resolve("input.log"));
        String found = describe(format.get(), FramedLog.of(format.get(), input));
        Path expected = directory.resolve("expected.json");
        if (UPDATE) {
            update(directory, expected, found);
        }
        assertThat(expected)
                .as("run with -Dgolden.update=true to write it, and review it")
                .exists();
        assertThat(found)
                .as(name(directory) + ": if this is intended, run with -Dgolden.update=true and review the difference")
                .isEqualTo(Files.readString(expected));
    }

    /** Prints what was written, because an entry that is rejected by mistake is easily overlooked in the file. */
    private static void update(Path directory, Path expected, String found) throws IOException {
        if (Files.exists(expected) && Files.readString(expected).equals(found)) {
            return;
        }
        Files.writeString(expected, found);
        Map<String, Long> rejections = Pattern.compile("\"rejected\":\"(\\w+)")
                .matcher(found)
                .results()
                .collect(Collectors.groupingBy(match -> match.group(1), TreeMap::new, Collectors.counting()));
        long events =
                found.lines().filter(line -> line.startsWith(" \"event\":")).count();
        System.out.printf(
                "wrote expected.json of %s: events: %d, rejections: %s%n", name(directory), events, rejections);
    }

    private static String describe(LogFormat format, FramedLog log) {
        StringBuilder lines = new StringBuilder();
        Iterator<Parsed.Outcome> outcomes = Parsed.of(format, log).iterator();
        for (FramedLog.Frame frame : log.frames()) {
            lines.append("{\"from\":").append(frame.from()).append(",\"to\":").append(frame.to());
            if (frame.isEntry()) {
                outcome(outcomes.next(), lines);
            } else if (frame.kind() != null) {
                lines.append(",\"framing\":\"").append(frame.kind()).append('"');
            } else {
                rejection(frame.code() + ": " + frame.message(), lines);
            }
            lines.append("}\n");
        }
        return lines.toString();
    }

    private static void outcome(Parsed.Outcome outcome, StringBuilder lines) {
        if (outcome.event() == null) {
            rejection(outcome.code() + ": " + outcome.message(), lines);
            return;
        }
        lines.append(",\"fingerprint\":");
        AvroJsonWriter.quote(outcome.fingerprint(), lines);
        lines.append(",\"statement\":");
        AvroJsonWriter.quote(outcome.statement(), lines);
        lines.append(",\n \"event\":").append(new AvroJsonWriter().write(outcome.event()));
    }

    private static void rejection(String text, StringBuilder lines) {
        lines.append(",\"rejected\":");
        AvroJsonWriter.quote(text, lines);
    }

    @TestFactory
    Stream<DynamicTest> everyInputIdentifiesItsFormat() {
        return cases().filter(path -> !path.endsWith("fields-that-shift"))
                .map(path -> DynamicTest.dynamicTest(name(path), () -> {
                    byte[] head = Files.readAllBytes(path.resolve("input.log"));
                    assertThat(new FormatRegistry().detect("", "auto", head).map(LogFormat::name))
                            .as("the format that FormatProbe or AuditFormatDetector detects")
                            .contains(format(path));
                }));
    }
}

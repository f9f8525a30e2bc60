package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The result for each input under {@code golden/<format>/<case>}: one JSON object per line, in file order. To accept
 * an intended change, run with {@code -Dgolden.update=true} and review the difference.
 */
class GoldenTest {

    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final boolean UPDATE = Boolean.getBoolean("golden.update");

    @TestFactory
    Stream<DynamicTest> everyCaseIsReadAsExpected() throws IOException {
        return directories(GOLDEN).flatMap(format -> directories(format)
                .map(path -> DynamicTest.dynamicTest(
                        format.getFileName() + "/" + path.getFileName(),
                        () -> check(format.getFileName().toString(), path))));
    }

    private static Stream<Path> directories(Path parent) {
        try (Stream<Path> children = Files.list(parent)) {
            return children.filter(Files::isDirectory).sorted().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void check(String formatName, Path directory) throws IOException {
        LogFormat format = new FormatRegistry().named(formatName).orElseThrow();
        String found = describe(format, FramedLog.of(format, Files.readAllBytes(directory.resolve("input.log"))));
        Path expected = directory.resolve("expected.json");
        if (UPDATE) {
            Files.writeString(expected, found);
        }
        assertThat(found).isEqualTo(Files.readString(expected));
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
        return directories(GOLDEN).flatMap(format -> directories(format)
                .filter(path -> !path.endsWith("fields-that-shift"))
                .map(path -> DynamicTest.dynamicTest(path.getFileName().toString(), () -> {
                    byte[] head = Files.readAllBytes(path.resolve("input.log"));
                    assertThat(new FormatRegistry().detect("", "auto", head).map(LogFormat::name))
                            .isEqualTo(List.of(format.getFileName().toString()).stream()
                                    .findFirst());
                })));
    }
}

package io.tailrace.cli;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.dataclass.DataClassReader;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.reader.BundleFiles;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes operations in a format and reads them with its parser, as events with the fields of rules. */
final class RenderedEvents {

    static final Path PACK = Path.of("../../rules");

    private static final DataClassifier CLASSIFIER = classifier();

    private RenderedEvents() {}

    private static DataClassifier classifier() {
        try {
            Path file = PACK.resolve(BundleFiles.DATA_CLASSES);
            return new DataClassifier(DataClassReader.read(file.toString(), Files.readString(file), error -> {
                throw new AssertionError(error.toString());
            }));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws AssertionError if the parser refuses an entry */
    static List<DetectionEvent> of(String name, List<DatabaseOperation> operations) {
        return read(name, RenderedLog.of(RenderedLog.writers().get(name), operations), false);
    }

    /** Returns the events of a log of which the parser may refuse entries. */
    static List<DetectionEvent> ofDamaged(String name, String log) {
        return read(name, log, true);
    }

    private static List<DetectionEvent> read(String name, String log, boolean damaged) {
        LogFormat format = new FormatRegistry().named(name).orElseThrow();
        String source = FormatRegistry.sourceOf(format);
        LogOrigin origin = new LogOrigin("", "db1", source, name, "UTC", name);
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        List<DetectionEvent> events = new ArrayList<>();
        try {
            new LogReader(bytes, new ByteArrayInputStream(new byte[0]), format, origin, new Sink(events, damaged))
                    .read(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return events;
    }

    private record Sink(List<DetectionEvent> events, boolean damaged) implements DetectionEventHandler {

        @Override
        public void event(DetectionEvent event) {
            CLASSIFIER.enrich(event);
            events.add(event);
        }

        @Override
        public void deadLetter(Refusal refusal) {
            if (!damaged) {
                throw new AssertionError(refusal.code() + ": " + refusal.message());
            }
        }
    }

    static List<DetectionEvent> statements(List<DetectionEvent> events) {
        return events.stream()
                .filter(event -> texts(event, DatabaseField.EVENT_CLASS).contains("query"))
                .toList();
    }

    static List<DetectionEvent> logins(List<DetectionEvent> events) {
        return events.stream()
                .filter(event -> !texts(event, DatabaseField.LOGIN).isEmpty()
                        && !texts(event, DatabaseField.LOGIN).contains("unknown"))
                .toList();
    }

    static List<String> texts(DetectionEvent event, DatabaseField field) {
        return event.values(field.fieldName()).stream().map(FieldValue::text).toList();
    }
}

package io.tailrace.benchmarks;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.specific.SpecificRecord;

/** The events of all logs below a directory, in the order of their times. The directory of a log names its server. */
final class LoggedEvents {

    private static final int HEAD = 1 << 16;

    private final List<SpecificRecord> records = new ArrayList<>();
    private final List<Instant> times = new ArrayList<>();
    private final Duration period;

    LoggedEvents(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.filter(Files::isRegularFile).sorted().forEach(this::read);
        }
        records.sort(Comparator.comparing(LoggedEvents::time));
        records.forEach(event -> times.add(time(event)));
        if (records.isEmpty()) {
            throw new IllegalStateException("expected logs below " + directory + ", found none");
        }
        long days = Duration.between(times.get(0), times.get(times.size() - 1)).toDays();
        period = Duration.ofDays(days + 1);
    }

    int size() {
        return records.size();
    }

    /**
     * Returns an event with the time and id of a repetition. Each repetition follows the one before it.
     *
     * @param pass number of the repetition, from 0 to 127
     */
    SpecificRecord get(int number, int pass) {
        SpecificRecord event = records.get(number);
        Instant moved = times.get(number).plus(period.multipliedBy(pass));
        if (event instanceof QueryEvent query) {
            query.setEventTime(moved);
            number(query.getEventId(), pass);
        } else if (event instanceof AuditEvent audit) {
            audit.setEventTime(moved);
            number(audit.getEventId(), pass);
        } else {
            ((ErrorEvent) event).setEventTime(moved);
            number(((ErrorEvent) event).getEventId(), pass);
        }
        return event;
    }

    private static void number(EventId id, int pass) {
        id.bytes()[0] = (byte) pass;
    }

    private static Instant time(SpecificRecord event) {
        if (event instanceof QueryEvent query) {
            return query.getEventTime();
        }
        return event instanceof AuditEvent audit ? audit.getEventTime() : ((ErrorEvent) event).getEventTime();
    }

    private void read(Path file) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            LogFormat format = new FormatRegistry()
                    .detect("", "auto", Arrays.copyOf(bytes, Math.min(HEAD, bytes.length)))
                    .orElseThrow(() -> new IllegalStateException("unknown format: " + file));
            String instance = file.getParent().getFileName().toString();
            LogOrigin origin = new LogOrigin(
                    instance.replaceFirst("-db-.*", ""),
                    instance,
                    FormatRegistry.sourceOf(format),
                    format.name(),
                    "UTC",
                    file.toString());
            frame(bytes, format.newFramer(), new Entries(bytes, origin, format.newParser(EntryDetail.FULL)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void frame(byte[] bytes, EntryFramer framer, FrameListener out) {
        int at = 0;
        while (at < bytes.length) {
            int end = Math.min(ByteText.lineFeed(bytes, at, bytes.length) + 1, bytes.length);
            at = (int) framer.line(bytes, at, end, at, out);
        }
        framer.end(out);
    }

    /** Parses entries into copies of their events, because a parser may use one object for all of them. */
    private final class Entries implements FrameListener, ParseListener {

        private final byte[] bytes;
        private final LogOrigin origin;
        private final EntryParser parser;

        Entries(byte[] bytes, LogOrigin origin, EntryParser parser) {
            this.bytes = bytes;
            this.origin = origin;
            this.parser = parser;
        }

        @Override
        public void entry(long from, long to, EntryContext context) {
            parser.parse(new LogEntry(origin, 1, from, bytes, (int) from, (int) to, context), this);
        }

        @Override
        public boolean needsStatement(QueryEvent event) {
            return false;
        }

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            QueryEvent copy = QueryEvent.newBuilder(event).build();
            copy.setFingerprint(fingerprint);
            records.add(copy);
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {
            AuditEvent copy = AuditEvent.newBuilder(event).build();
            copy.setFingerprint(fingerprint);
            records.add(copy);
        }

        @Override
        public void error(ErrorEvent event) {
            records.add(ErrorEvent.newBuilder(event).build());
        }

        @Override
        public void framing(long from, long to, FramingKind kind) {}

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {}

        @Override
        public void rejected(DeadLetterCode code, String message) {}
    }
}

package io.tailrace.formats;

import io.tailrace.audit.AuditFormats;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogFormats;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** All formats that Tailrace reads, and how a file shows its own. */
public final class KnownFormats implements LogFormats {

    private static final String AUTO = "auto";
    private static final String AUDIT = "audit";
    private static final String SLOW_LOG = "slowlog";

    private final List<LogFormat> all =
            Stream.concat(Stream.of(new SlowLogFormat()), AuditFormats.all().stream()).toList();

    /** The formats, in the order in which they are documented. */
    public List<LogFormat> all() {
        return all;
    }

    @Override
    public Optional<LogFormat> named(String name) {
        return all.stream().filter(format -> format.name().equals(name)).findFirst();
    }

    /** A format is told by the first line that only it can hold. The source narrows the choice, where it is known. */
    @Override
    public Optional<LogFormat> detect(String source, String hint, byte[] head) {
        if (!AUTO.equals(hint) && !hint.isEmpty()) {
            return named(hint);
        }
        return HeadLines.first(head)
                .filter(name -> !source.equals(name.equals(SlowLogFormat.NAME) ? AUDIT : SLOW_LOG))
                .flatMap(this::named);
    }
}

package io.tailrace.formats;

import io.tailrace.audit.AuditFormats;
import io.tailrace.errorlog.ErrorLogFormat;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogFormats;
import io.tailrace.generallog.GeneralLogFormat;
import io.tailrace.innodb.RedoLogCapacities;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** All formats that Tailrace reads, and the detection of a file's format. */
public final class FormatRegistry implements LogFormats {

    private static final String AUTO = "auto";

    private final List<LogFormat> all;

    public FormatRegistry() {
        this(RedoLogCapacities.unknown());
    }

    /** Creates a registry that knows the capacities of InnoDB's redo logs, from which the checkpoint age is rated. */
    public FormatRegistry(RedoLogCapacities innoDbLogs) {
        all = Stream.of(
                        Stream.of(new SlowLogFormat()),
                        AuditFormats.all().stream(),
                        Stream.of(new GeneralLogFormat(), new ErrorLogFormat(innoDbLogs)))
                .<LogFormat>flatMap(formats -> formats)
                .toList();
    }

    /** Returns the source of a format: {@code slowlog}, {@code audit}, {@code general} or {@code errorlog}. */
    public static String sourceOf(LogFormat format) {
        return sourceOf(format.name());
    }

    private static String sourceOf(String format) {
        return switch (format) {
            case SlowLogFormat.NAME -> "slowlog";
            case GeneralLogFormat.NAME -> "general";
            case ErrorLogFormat.NAME -> "errorlog";
            default -> "audit";
        };
    }

    /** Returns the formats in the order in which they are documented. */
    public List<LogFormat> all() {
        return all;
    }

    @Override
    public Optional<LogFormat> named(String name) {
        return all.stream().filter(format -> format.name().equals(name)).findFirst();
    }

    /**
     * Detects the format by the first line that only one format can contain; the source narrows the choice if known.
     * A name of a format of another source is no hint.
     */
    @Override
    public Optional<LogFormat> detect(String source, String hint, byte[] head) {
        boolean named = !AUTO.equals(hint) && !hint.isEmpty();
        return (named ? Optional.of(hint) : FormatProbe.first(head, source))
                .filter(name -> source.isEmpty() || source.equals(sourceOf(name)))
                .flatMap(this::named);
    }
}

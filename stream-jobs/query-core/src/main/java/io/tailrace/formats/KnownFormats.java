package io.tailrace.formats;

import io.tailrace.audit.MariaDbAuditFormat;
import io.tailrace.audit.PerconaJsonFormat;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogFormats;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.List;
import java.util.Optional;

/** All formats that Tailrace reads, and how a file shows its own. */
public final class KnownFormats implements LogFormats {

    private static final String AUTO = "auto";

    private final LogFormat slowLog = new SlowLogFormat();
    private final LogFormat mariaDbAudit = new MariaDbAuditFormat();
    private final LogFormat perconaJson = new PerconaJsonFormat();
    private final List<LogFormat> all = List.of(slowLog, mariaDbAudit, perconaJson);

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
        return switch (HeadLines.first(head)) {
            case SLOW_LOG -> "audit".equals(source) ? Optional.empty() : Optional.of(slowLog);
            case MARIADB_AUDIT -> "slowlog".equals(source) ? Optional.empty() : Optional.of(mariaDbAudit);
            case PERCONA_JSON -> "slowlog".equals(source) ? Optional.empty() : Optional.of(perconaJson);
            case UNKNOWN -> Optional.empty();
        };
    }
}

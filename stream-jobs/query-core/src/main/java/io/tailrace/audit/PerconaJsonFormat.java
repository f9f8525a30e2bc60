package io.tailrace.audit;

import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;

/** The log of Percona's audit_log plugin, {@code audit_log_format=JSON}. */
public final class PerconaJsonFormat implements LogFormat {

    public static final String NAME = "percona-audit-json";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EntryFramer newFramer() {
        return new LineFramer();
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        return LineFramer.restore(snapshot);
    }

    @Override
    public EntryParser newParser() {
        return new PerconaJsonParser();
    }
}

package io.tailrace.audit;

import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;

/** The log of MariaDB's server_audit plugin, output type FILE. */
public final class MariaDbAuditFormat implements LogFormat {

    public static final String NAME = "mariadb-audit";

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
        return new MariaDbAuditParser();
    }
}

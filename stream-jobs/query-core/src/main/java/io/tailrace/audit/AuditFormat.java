package io.tailrace.audit;

import io.tailrace.audit.record.LineFramer;
import io.tailrace.audit.record.RecordScanner;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import java.util.function.Supplier;

/**
 * One audit log format.
 *
 * @param scanner finds the records of a document; null where every line is a record
 */
record AuditFormat(String name, Supplier<RecordScanner> scanner, Supplier<EntryParser> parser) implements LogFormat {

    @Override
    public EntryFramer newFramer() {
        return scanner == null ? new LineFramer() : new RecordFramer(scanner.get());
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        return scanner == null ? LineFramer.restore(snapshot) : RecordFramer.restore(scanner.get(), snapshot);
    }

    @Override
    public EntryParser newParser() {
        return parser.get();
    }
}

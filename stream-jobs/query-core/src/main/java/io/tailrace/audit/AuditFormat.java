package io.tailrace.audit;

import io.tailrace.audit.record.RecordScanner;
import io.tailrace.audit.record.SingleLineFramer;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import java.util.function.Supplier;

/**
 * One audit log format.
 *
 * @param scanner finds the records of a document; null if every line is a record
 */
record AuditFormat(String name, Supplier<RecordScanner> scanner, Supplier<EntryParser> parser) implements LogFormat {

    @Override
    public EntryFramer newFramer() {
        return scanner == null ? new SingleLineFramer() : new RecordFramer(scanner.get());
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        return scanner == null ? SingleLineFramer.restore(snapshot) : RecordFramer.restore(scanner.get(), snapshot);
    }

    @Override
    public EntryParser newParser() {
        return parser.get();
    }
}

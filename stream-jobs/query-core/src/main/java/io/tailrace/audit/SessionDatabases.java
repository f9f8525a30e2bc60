package io.tailrace.audit;

import io.tailrace.audit.json.JsonRecordReader;
import io.tailrace.audit.xml.XmlRecordReader;
import io.tailrace.framing.EntryContext;
import io.tailrace.lexer.ByteText;
import io.tailrace.session.SessionTracker;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Tracks the default databases of connections through the records of a document. Most writers log a database only
 * when a connection begins or changes it, and not with each statement. The class stores the bytes of the current
 * record, up to {@value #MAX_BYTES}: what it needs of a record precedes a statement or occurs in a record without
 * one. Not thread-safe.
 */
final class SessionDatabases {

    /** Exceeds a Connect record with its attributes, which have at most 64 KiB. */
    private static final int MAX_BYTES = 512 << 10;

    private static final byte[] WRAPPER = ByteText.ascii("{\"audit_record\"");

    /** Start of a statement of Percona's plugin in JSON; later releases name its database. */
    private static final byte[] STATEMENT = ByteText.ascii("{\"audit_record\":{\"name\":\"Query\"");

    /** No value can contain it, because quotation marks in values are escaped. */
    private static final byte[] OWN_DATABASE = ByteText.ascii("\"db\":\"");

    private final SessionMemberHandler members = new SessionMemberHandler();
    private final JsonRecordReader json = new JsonRecordReader();
    private final JsonRecordReader wrapped = new JsonRecordReader("audit_record");
    private final XmlRecordReader xml = new XmlRecordReader();
    private SessionTracker sessions = new SessionTracker();
    private byte[] record = new byte[1024];
    private int length;

    /** Starts a record and discards the previous one. */
    void start() {
        length = 0;
    }

    /** Adds bytes of the record. */
    void add(byte[] buffer, int from, int to) {
        int more = Math.min(to - from, MAX_BYTES - length);
        if (length + more > record.length) {
            record = Arrays.copyOf(record, Math.max(length + more, 2 * record.length));
        }
        System.arraycopy(buffer, from, record, length, more);
        length += more;
    }

    /**
     * Ends the record: records what it states about its connection, and returns the context that is known for the
     * connection.
     */
    EntryContext end() {
        int from = ByteText.skipBlanks(record, 0, length);
        boolean ownDatabase = ByteText.startsWith(record, from, length, STATEMENT)
                && ByteText.lastIndexOf(record, from, length, OWN_DATABASE) >= 0;
        return ownDatabase ? EntryContext.NONE : ofConnection(from);
    }

    private EntryContext ofConnection(int from) {
        members.start();
        if (from < length && record[from] == '<') {
            xml.read(record, from, length, members);
        } else if (from < length && record[from] == '{') {
            boolean wraps = ByteText.startsWith(record, from, length, WRAPPER);
            (wraps ? wrapped : json).read(record, from, length, members);
        }
        String database = members.apply(sessions);
        return database.isEmpty() ? EntryContext.NONE : new EntryContext(database, "", false, false);
    }

    /** Discards all connections, because any of them may have changed in the lost bytes. */
    void clear() {
        sessions.clear();
    }

    /** @param inRecord whether a record has started and not ended */
    byte[] write(boolean inRecord) {
        byte[] open = sessions.write();
        int kept = inRecord ? length : 0;
        return ByteBuffer.allocate(Integer.BYTES + kept + open.length)
                .putInt(kept)
                .put(record, 0, kept)
                .put(open)
                .array();
    }

    /** @param in positioned after what was read before; snapshots of earlier versions have no bytes left */
    void read(ByteBuffer in) {
        if (!in.hasRemaining()) {
            return;
        }
        length = in.getInt();
        record = new byte[Math.max(length, record.length)];
        in.get(record, 0, length);
        byte[] open = new byte[in.remaining()];
        in.get(open);
        sessions = SessionTracker.read(open);
    }
}

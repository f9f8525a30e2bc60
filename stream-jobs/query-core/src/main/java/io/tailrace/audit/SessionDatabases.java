package io.tailrace.audit;

import io.tailrace.audit.json.JsonRecordReader;
import io.tailrace.audit.xml.XmlRecordReader;
import io.tailrace.framing.EntryContext;
import io.tailrace.lexer.ByteText;
import io.tailrace.session.SessionTracker;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The default databases of connections, as the records of a document tell them one after the other: most writers name
 * it where a connection begins or changes it, and not with each statement. Keeps the bytes of the record at hand, up to
 * {@value #MAX_BYTES}: what it reads of a record stands before a statement or in a record without one. Not thread-safe.
 */
final class SessionDatabases {

    /** More than a client can make of a Connect record with its attributes, which are 64 KiB at most. */
    private static final int MAX_BYTES = 512 << 10;

    private static final byte[] WRAPPER = ByteText.ascii("{\"audit_record\"");

    /** A statement of Percona's plugin, in JSON; later releases name its database. */
    private static final byte[] STATEMENT = ByteText.ascii("{\"audit_record\":{\"name\":\"Query\"");

    /** No value can hold it, for its quotation marks are escaped there. */
    private static final byte[] OWN_DATABASE = ByteText.ascii("\"db\":\"");

    private final SessionMemberHandler members = new SessionMemberHandler();
    private final JsonRecordReader json = new JsonRecordReader();
    private final JsonRecordReader wrapped = new JsonRecordReader("audit_record");
    private final XmlRecordReader xml = new XmlRecordReader();
    private SessionTracker sessions = new SessionTracker();
    private byte[] record = new byte[1024];
    private int length;

    /** A record starts; what is kept of the one before is not needed. */
    void start() {
        length = 0;
    }

    /** The record goes on. */
    void add(byte[] buffer, int from, int to) {
        int more = Math.min(to - from, MAX_BYTES - length);
        if (length + more > record.length) {
            record = Arrays.copyOf(record, Math.max(length + more, 2 * record.length));
        }
        System.arraycopy(buffer, from, record, length, more);
        length += more;
    }

    /** The record ends: notes what it says of its connection, and tells what was known of that. */
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

    /** Bytes were lost that may have said anything. */
    void clear() {
        sessions.clear();
    }

    /** @param inRecord a record has started and not ended */
    byte[] write(boolean inRecord) {
        byte[] open = sessions.write();
        int kept = inRecord ? length : 0;
        return ByteBuffer.allocate(Integer.BYTES + kept + open.length)
                .putInt(kept)
                .put(record, 0, kept)
                .put(open)
                .array();
    }

    /** @param in behind what was read before; nothing is left in snapshots of former versions */
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

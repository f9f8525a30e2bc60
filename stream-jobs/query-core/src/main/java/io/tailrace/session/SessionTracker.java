package io.tailrace.session;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tracks the connections that a log file records: account and default database by thread id. The size is bounded: of
 * more than {@value #MAX_SESSIONS} connections, those that were idle longest are discarded, as are names beyond
 * {@value #MAX_CHARACTERS} characters. Names are the raw bytes of the log as ISO-8859-1 characters.
 */
public final class SessionTracker {

    public static final int MAX_SESSIONS = 1024;
    /** Limit for the distinct names together and for their number: a snapshot stays below 64 KiB. */
    static final int MAX_CHARACTERS = 32 << 10;

    /** Longest name that is stored; a longer one counts as unknown. */
    static final int MAX_NAME_LENGTH = 320;

    /**
     * The state of a connection.
     *
     * @param isNew whether no command has followed its login, so that the outcome of the login is still unknown
     */
    public record Session(String account, String database, boolean isNew) {

        public static final Session UNKNOWN = new Session("", "", false);
    }

    /** Highest thread id that connected; 0 if none did. */
    private long youngest;

    private final LinkedHashMap<Long, Session> open = new LinkedHashMap<>(64, 0.75f, true);

    /**
     * Returns whether the thread id is higher than that of every connection whose start the log contains. Such a
     * connection cannot exist, because a server assigns ascending ids and logs each start.
     */
    public boolean contradicts(long threadId) {
        return youngest > 0 && threadId > youngest;
    }

    public Session of(long threadId) {
        Session session = open.get(threadId);
        return session == null ? Session.UNKNOWN : session;
    }

    /** Records the start of a connection, which the server may still refuse. */
    public void starts(long threadId) {
        youngest = Math.max(youngest, threadId);
    }

    /** Records a login. The next command of the connection proves that it succeeded. */
    public void connect(long threadId, String account, String database) {
        put(threadId, new Session(bounded(account), bounded(database), true));
    }

    /** Records that the connection's login is known to have succeeded. */
    public void loggedIn(long threadId) {
        Session session = of(threadId);
        if (session.isNew()) {
            put(threadId, new Session(session.account(), session.database(), false));
        }
    }

    private void put(long threadId, Session session) {
        open.put(threadId, session);
        if (open.size() > MAX_SESSIONS) {
            forgetEldest();
        }
    }

    public void use(long threadId, String database) {
        Session session = of(threadId);
        put(threadId, new Session(session.account(), bounded(database), session.isNew()));
    }

    public void quit(long threadId) {
        open.remove(threadId);
    }

    public void clear() {
        youngest = 0;
        open.clear();
    }

    private static String bounded(String name) {
        return name.length() > MAX_NAME_LENGTH ? "" : name;
    }

    private void forgetEldest() {
        Iterator<Long> eldest = open.keySet().iterator();
        eldest.next();
        eldest.remove();
    }

    public byte[] write() {
        Map<String, Integer> names = names();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeShort(names.size());
            for (String name : names.keySet()) {
                out.writeShort(name.length());
                out.write(name.getBytes(StandardCharsets.ISO_8859_1));
            }
            out.writeShort(open.size());
            for (Map.Entry<Long, Session> entry : open.entrySet()) {
                out.writeLong(entry.getKey());
                out.writeShort(names.get(entry.getValue().account()));
                out.writeShort(names.get(entry.getValue().database()));
            }
            out.writeLong(youngest);
            out.write(newOnes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Returns one bit per connection, in their order. */
    private byte[] newOnes() {
        BitSet bits = new BitSet(MAX_SESSIONS);
        int index = 0;
        for (Session session : open.values()) {
            bits.set(index++, session.isNew());
        }
        return bits.toByteArray();
    }

    /**
     * Returns every name with its number. Connections that would make the names too long are discarded, the oldest
     * first.
     */
    private Map<String, Integer> names() {
        Map<String, Integer> names = number();
        while (names.keySet().stream().mapToInt(String::length).sum() > MAX_CHARACTERS) {
            for (int i = 0; i < MAX_SESSIONS / 16 && !open.isEmpty(); i++) {
                forgetEldest();
            }
            names = number();
        }
        return names;
    }

    private Map<String, Integer> number() {
        Map<String, Integer> names = new LinkedHashMap<>();
        for (Session session : open.values()) {
            names.putIfAbsent(session.account(), names.size());
            names.putIfAbsent(session.database(), names.size());
        }
        return names;
    }

    public static SessionTracker read(byte[] snapshot) {
        SessionTracker sessions = new SessionTracker();
        try (DataInputStream in = new DataInputStream(new java.io.ByteArrayInputStream(snapshot))) {
            List<String> names = new ArrayList<>();
            int count = in.readUnsignedShort();
            for (int i = 0; i < count; i++) {
                byte[] name = new byte[in.readUnsignedShort()];
                in.readFully(name);
                names.add(new String(name, StandardCharsets.ISO_8859_1));
            }
            readOpen(in, names, sessions);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sessions;
    }

    private static void readOpen(DataInputStream in, List<String> names, SessionTracker sessions) throws IOException {
        int count = in.readUnsignedShort();
        long[] threadIds = new long[count];
        Session[] found = new Session[count];
        for (int i = 0; i < count; i++) {
            threadIds[i] = in.readLong();
            String account = names.get(in.readUnsignedShort());
            found[i] = new Session(account, names.get(in.readUnsignedShort()), false);
        }
        // Snapshots of earlier versions end before one of these two fields.
        sessions.youngest = in.available() > 0 ? in.readLong() : 0;
        BitSet areNew = BitSet.valueOf(in.readAllBytes());
        for (int i = 0; i < count; i++) {
            sessions.open.put(threadIds[i], new Session(found[i].account(), found[i].database(), areNew.get(i)));
        }
    }
}

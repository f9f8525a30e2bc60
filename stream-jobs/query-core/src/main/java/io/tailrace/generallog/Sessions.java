package io.tailrace.generallog;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Who is connected, as far as the log's file has said: account and default database by thread id. Bounded: of more
 * than {@value #MOST} connections the ones that were silent longest are forgotten, as are names beyond
 * {@value #MOST_CHARACTERS} characters. Names are raw ISO-8859-1 characters of the log's bytes.
 */
final class Sessions {

    static final int MOST = 1024;
    /** Of distinct names together, and of their number: a snapshot stays below 64 KiB. */
    static final int MOST_CHARACTERS = 32 << 10;

    /** Longest name that is kept; a longer one is unknown. */
    static final int LONGEST_NAME = 320;

    /** What is known of a connection. */
    record Session(String account, String database) {

        static final Session UNKNOWN = new Session("", "");
    }

    /** Highest thread id that connected; 0: none did. */
    private long youngest;

    private final LinkedHashMap<Long, Session> open = new LinkedHashMap<>(64, 0.75f, true);

    /**
     * The connection is younger than every one that the log saw open, and it saw none open: a server counts its
     * connections upwards and logs each one's start.
     */
    boolean contradicts(long threadId) {
        return youngest > 0 && threadId > youngest;
    }

    Session of(long threadId) {
        Session session = open.get(threadId);
        return session == null ? Session.UNKNOWN : session;
    }

    /** A connection starts, perhaps to be refused. */
    void starts(long threadId) {
        youngest = Math.max(youngest, threadId);
    }

    void connect(long threadId, String account, String database) {
        open.put(threadId, new Session(bounded(account), bounded(database)));
        if (open.size() > MOST) {
            forgetEldest();
        }
    }

    void use(long threadId, String database) {
        connect(threadId, of(threadId).account(), database);
    }

    void quit(long threadId) {
        open.remove(threadId);
    }

    void clear() {
        youngest = 0;
        open.clear();
    }

    private static String bounded(String name) {
        return name.length() > LONGEST_NAME ? "" : name;
    }

    private void forgetEldest() {
        Iterator<Long> eldest = open.keySet().iterator();
        eldest.next();
        eldest.remove();
    }

    byte[] write() {
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
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Every name with its number. Connections that would make them too long are forgotten, the eldest first. */
    private Map<String, Integer> names() {
        Map<String, Integer> names = number();
        while (names.keySet().stream().mapToInt(String::length).sum() > MOST_CHARACTERS) {
            for (int i = 0; i < MOST / 16 && !open.isEmpty(); i++) {
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

    static Sessions read(byte[] snapshot) {
        Sessions sessions = new Sessions();
        try (DataInputStream in = new DataInputStream(new java.io.ByteArrayInputStream(snapshot))) {
            List<String> names = new ArrayList<>();
            int count = in.readUnsignedShort();
            for (int i = 0; i < count; i++) {
                byte[] name = new byte[in.readUnsignedShort()];
                in.readFully(name);
                names.add(new String(name, StandardCharsets.ISO_8859_1));
            }
            int open = in.readUnsignedShort();
            for (int i = 0; i < open; i++) {
                long threadId = in.readLong();
                String account = names.get(in.readUnsignedShort());
                sessions.open.put(threadId, new Session(account, names.get(in.readUnsignedShort())));
            }
            // Snapshots of 0.1 before the field was added end here.
            sessions.youngest = in.available() > 0 ? in.readLong() : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sessions;
    }
}

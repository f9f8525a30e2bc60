package io.tailrace.flink.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One message of a lines topic (schemas/lines.schema.json), read in place: a cursor that is reused for each message.
 * Not thread-safe.
 */
final class LineMessage {

    private static final byte[][] HEADER_NAMES = {
        ascii("cluster"), ascii("instance"), ascii("source"), ascii("format"), ascii("tz"), ascii("path")
    };
    private static final byte[] ORIGIN = ascii("origin");
    private static final byte[] OFFSET = ascii("offset");
    private static final byte[] LOG = ascii("log");
    private static final byte[] TIMESTAMP = ascii("@timestamp");
    private static final byte[] BACKFILL = ascii("backfill");
    private static final byte[] GENERATION = ascii("generation");
    /** A key that every census record contains and no line does. */
    private static final byte[] INODE = ascii("inode");

    /**
     * Length in bytes from which a line may have been cut by Fluent Bit 5: Buffer_Max_Size of collectors/fluent-bit (18
     * MB), less the bytes from which Fluent Bit goes back to the start of a character.
     */
    static final int CUT_BYTES = 18_000_000 - 100_000;

    static final int HEADERS = HEADER_NAMES.length;
    static final int CLUSTER = 0;
    static final int INSTANCE = 1;
    static final int SOURCE = 2;
    static final int FORMAT = 3;
    static final int ZONE = 4;
    static final int PATH = 5;
    /** The headers in the key {@code origin}, in their order. */
    private static final int[] OF_ORIGIN = {SOURCE, FORMAT, ZONE, CLUSTER};

    private static final long MICROS_PER_MILLI = 1000;

    private final MessagePackReader reader = new MessagePackReader();
    private final int[] headerFrom = new int[HEADERS];
    private final int[] headerTo = new int[HEADERS];
    private byte[] message;
    private int logFrom;
    private int logTo;
    private long offset;
    private long readAt;
    private boolean backfill;
    private long generation;
    private boolean census;

    /**
     * Reads a message.
     *
     * @return the error, without bytes of the message; empty for a valid one
     */
    String read(byte[] value) {
        clear(value);
        int pairs = reader.readMap();
        for (int i = 0; i < pairs && !reader.failed(); i++) {
            reader.readString();
            readValue();
        }
        return validationError();
    }

    private void clear(byte[] value) {
        message = value;
        reader.reset(value);
        Arrays.fill(headerFrom, -1);
        logFrom = -1;
        offset = -1;
        readAt = 0;
        backfill = false;
        generation = 0;
        census = false;
    }

    private void readValue() {
        int header = header();
        if (header >= 0) {
            reader.readString();
            headerFrom[header] = reader.stringFrom();
            headerTo[header] = reader.stringTo();
        } else if (reader.stringEquals(ORIGIN)) {
            reader.readString();
            splitOrigin();
        } else if (reader.stringEquals(LOG)) {
            reader.readString();
            logFrom = reader.stringFrom();
            logTo = reader.stringTo();
        } else if (reader.stringEquals(OFFSET)) {
            offset = reader.readUnsigned();
        } else if (reader.stringEquals(TIMESTAMP)) {
            readAt = reader.readSeconds() / MICROS_PER_MILLI;
        } else if (reader.stringEquals(BACKFILL)) {
            backfill = reader.readBoolean();
        } else if (reader.stringEquals(GENERATION)) {
            generation = reader.readUnsigned();
        } else {
            census |= reader.stringEquals(INODE);
            reader.skip();
        }
    }

    /** The last of the four parts may contain the separator. */
    private void splitOrigin() {
        int from = reader.stringFrom();
        for (int i = 0; i < OF_ORIGIN.length && from <= reader.stringTo(); i++) {
            int to = i == OF_ORIGIN.length - 1 ? reader.stringTo() : endOfPart(from);
            headerFrom[OF_ORIGIN[i]] = from;
            headerTo[OF_ORIGIN[i]] = to;
            from = to + 1;
        }
    }

    private int endOfPart(int from) {
        int to = from;
        while (to < reader.stringTo() && message[to] != '|') {
            to++;
        }
        return to;
    }

    private int header() {
        for (int i = 0; i < HEADERS; i++) {
            if (reader.stringEquals(HEADER_NAMES[i])) {
                return i;
            }
        }
        return -1;
    }

    private String validationError() {
        if (reader.failed()) {
            return "expected a msgpack map of a line, found something else at byte " + reader.position();
        }
        for (int i = 0; i < HEADERS; i++) {
            if (headerFrom[i] < 0) {
                return "key " + new String(HEADER_NAMES[i], StandardCharsets.US_ASCII) + " is missing";
            }
        }
        if (headerFrom[INSTANCE] == headerTo[INSTANCE] || headerFrom[PATH] == headerTo[PATH]) {
            return "instance or path is empty";
        }
        if (logFrom < 0 || offset < 0) {
            return logFrom < 0 ? "key log is missing" : "key offset is missing";
        }
        return backfill && generation == 0 ? "a backfill record has no generation" : "";
    }

    /** Returns whether the message is a census record, to be read with {@link CensusMessage}. */
    boolean isCensus() {
        return census;
    }

    /**
     * Returns whether the collector may have cut the line. Such a line counts as one that was not shipped, which is a gap
     * {@code oversize}.
     */
    boolean mayBeCut() {
        return !backfill && logTo - logFrom >= CUT_BYTES;
    }

    byte[] message() {
        return message;
    }

    int headerFrom(int header) {
        return headerFrom[header];
    }

    int headerTo(int header) {
        return headerTo[header];
    }

    /** Returns the first byte of the line, as an index of {@link #message()}. */
    int logFrom() {
        return logFrom;
    }

    /** Returns the index after the line's last byte. */
    int logTo() {
        return logTo;
    }

    /** Returns the offset of the line's first byte in its file. */
    long offset() {
        return offset;
    }

    /** Returns when the collector read the line, in epoch milliseconds; 0 if it is unknown. */
    long readAt() {
        return readAt;
    }

    boolean backfill() {
        return backfill;
    }

    long generation() {
        return generation;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}

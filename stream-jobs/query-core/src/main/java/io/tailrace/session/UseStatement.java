package io.tailrace.session;

import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Determines from the text of a statement which default database it leaves to its connection. The text is read by the
 * rules of the servers: comments are skipped, the content of executable comments is code, and a text of several
 * statements may contain {@code USE} anywhere. The database is unknown if servers or SQL modes read the text differently,
 * and if it contains more than {@code USE shop}. Not thread-safe.
 */
public final class UseStatement {

    /** State of a text that does not change the database. */
    private static final byte[] NONE = {};

    private final UseScanner escaped = new UseScanner(true);
    /** The reading of NO_BACKSLASH_ESCAPES; differs only after the first backslash. */
    private final UseScanner plain = new UseScanner(false);

    private boolean backslashes;
    /** The start of the text was read. */
    private boolean started;

    /** Starts a text. */
    public void start() {
        started = true;
        backslashes = false;
        escaped.restore(0, "");
    }

    /** Forgets the text: it does not change the database. */
    public void stop() {
        started = false;
    }

    public boolean isStarted() {
        return started;
    }

    /** Reads a line of the text; {@code to} excludes its line end. */
    public void line(byte[] bytes, int from, int to) {
        if (!started) {
            return;
        }
        if (!backslashes && ByteText.firstOf(bytes, from, to, (byte) '\\', (byte) '\\') < to) {
            backslashes = true;
            plain.restore(escaped.state(), escaped.name());
        }
        escaped.line(bytes, from, to);
        if (backslashes) {
            plain.line(bytes, from, to);
        }
    }

    /**
     * Returns the database that the text selects, without quotes, as raw ISO-8859-1 characters; an empty text if it is
     * unknown; null if the text does not change it.
     */
    public String database() {
        if (!started) {
            return null;
        }
        String found = escaped.database();
        String other = backslashes ? plain.database() : found;
        if (found == null) {
            return other == null ? null : "";
        }
        return found.equals(other) ? found : "";
    }

    /** Returns {@link #database} of a whole text. */
    public String database(byte[] bytes, int from, int to) {
        start();
        int at = from;
        while (at < to) {
            int end = ByteText.lineFeed(bytes, at, to);
            line(bytes, at, end);
            at = end + 1;
        }
        return database();
    }

    /** Returns the state between two lines: at most 330 bytes. */
    public byte[] write() {
        if (!started) {
            return NONE;
        }
        byte[] name = escaped.name().getBytes(StandardCharsets.ISO_8859_1);
        return ByteBuffer.allocate(1 + 2 * Short.BYTES + name.length)
                .put((byte) (backslashes ? 1 : 0))
                .putShort((short) escaped.state())
                .putShort((short) plain.state())
                .put(name)
                .array();
    }

    /** Restores what {@link #write} returned. */
    public void read(byte[] state) {
        started = state.length > 0;
        if (started) {
            ByteBuffer in = ByteBuffer.wrap(state);
            backslashes = in.get() != 0;
            short first = in.getShort();
            short second = in.getShort();
            String name = StandardCharsets.ISO_8859_1.decode(in).toString();
            escaped.restore(first, name);
            plain.restore(second, name);
        }
    }
}

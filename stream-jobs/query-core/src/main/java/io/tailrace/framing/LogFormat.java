package io.tailrace.framing;

/** One log format: how its files are cut into entries, and what an entry means. */
public interface LogFormat {

    /** Stable name, such as {@code mysql-slow}. */
    String name();

    /** A framer at the start of a file. */
    EntryFramer newFramer();

    /** A framer as it was when {@link EntryFramer#snapshot()} was taken. */
    EntryFramer restoreFramer(byte[] snapshot);

    /** A parser; parsers hold scratch buffers and are used by one thread. */
    EntryParser newParser();

    /** A parser that may leave out what is not wanted. */
    default EntryParser newParser(EntryDetail detail) {
        return newParser();
    }
}

package io.tailrace.framing;

/** Defines a log format: how its files are split into entries and how an entry is parsed. */
public interface LogFormat {

    /** Returns the stable name, such as {@code mysql-slow}. */
    String name();

    /** Creates a framer for the start of a file. */
    EntryFramer newFramer();

    /** Creates a framer in the state that {@link EntryFramer#snapshot()} recorded. */
    EntryFramer restoreFramer(byte[] snapshot);

    /** Creates a parser. Parsers own scratch buffers, so each is used by one thread only. */
    EntryParser newParser();

    /** Creates a parser that may omit what the detail level does not need. */
    default EntryParser newParser(EntryDetail detail) {
        return newParser();
    }
}

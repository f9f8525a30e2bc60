package io.tailrace.framing;

import java.util.Optional;

/** The formats that Tailrace reads. */
public interface LogFormats {

    /** Returns the format of that name. */
    Optional<LogFormat> named(String name);

    /**
     * Detects a log's format.
     *
     * @param source kind of log, such as {@code slowlog} or {@code audit}
     * @param hint a format's name, or {@code auto}
     * @param head the file's first bytes: whole lines, possibly few
     * @return empty if the head is not decisive yet, no format matches, or the hint is no format of the source
     */
    Optional<LogFormat> detect(String source, String hint, byte[] head);
}

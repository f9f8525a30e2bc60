package io.tailrace.framing;

import java.util.Optional;

/** The formats that Tailrace reads. */
public interface LogFormats {

    /** The format of that name. */
    Optional<LogFormat> named(String name);

    /**
     * Finds a log's format.
     *
     * @param source slowlog or audit
     * @param hint a format's name, or auto
     * @param head the file's first bytes, whole lines; may be few
     * @return empty while the head does not decide yet or no format fits
     */
    Optional<LogFormat> detect(String source, String hint, byte[] head);
}

package io.tailrace.spans;

import java.io.IOException;

/** Thrown for JSON that is not OTLP's. The message contains no bytes of the input. */
final class MalformedJsonException extends IOException {

    private static final long serialVersionUID = 1;

    MalformedJsonException(String message) {
        super(message);
    }
}

package io.tailrace.spans;

import java.io.IOException;

/** JSON that is none of OTLP's; the message holds no bytes of it. */
final class MalformedJsonException extends IOException {

    private static final long serialVersionUID = 1;

    MalformedJsonException(String message) {
        super(message);
    }
}

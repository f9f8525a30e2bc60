package io.tailrace.spans;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;

/** Ids of traces and spans: 16 and 8 bytes, not all of them zero (OTLP, trace.proto). */
final class SpanIds {

    private static final int TRACE_BYTES = 16;
    private static final int SPAN_BYTES = 8;
    private static final byte[] DIGITS = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
    };

    private SpanIds() {}

    /** Returns what is wrong with a span's ids; empty if they are valid. */
    static String validationError(Span span) {
        if (!isId(span.getTraceId(), TRACE_BYTES)) {
            return "expected a trace id of 16 bytes that are not all zero, found " + found(span.getTraceId());
        }
        if (!isId(span.getSpanId(), SPAN_BYTES)) {
            return "expected a span id of 8 bytes that are not all zero, found " + found(span.getSpanId());
        }
        ByteString parent = span.getParentSpanId();
        return parent.isEmpty() || parent.size() == SPAN_BYTES
                ? ""
                : "expected a parent span id of 8 bytes, found " + found(parent);
    }

    private static String found(ByteString id) {
        return id.isEmpty() ? "none" : id.size() + " bytes" + (isZero(id) ? " of zero" : "");
    }

    private static boolean isId(ByteString id, int bytes) {
        return id.size() == bytes && !isZero(id);
    }

    private static boolean isZero(ByteString id) {
        for (int i = 0; i < id.size(); i++) {
            if (id.byteAt(i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns lower-case hexadecimal digits; empty for an id of zeros, which is invalid. */
    @SuppressWarnings("deprecation") // The constructor of Latin-1 bytes is the one that copies without decoding.
    static String text(ByteString id) {
        if (isZero(id)) {
            return "";
        }
        byte[] text = new byte[2 * id.size()];
        for (int i = 0; i < id.size(); i++) {
            text[2 * i] = DIGITS[id.byteAt(i) >> 4 & 0xf];
            text[2 * i + 1] = DIGITS[id.byteAt(i) & 0xf];
        }
        return new String(text, 0);
    }
}

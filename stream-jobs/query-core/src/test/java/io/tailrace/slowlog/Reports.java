package io.tailrace.slowlog;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import java.util.List;

/** Converts a framer's reports to short texts. */
record Reports(List<String> texts) implements FrameListener {

    @Override
    public void entry(long from, long to, EntryContext context) {
        texts.add("entry database=" + context.database() + " time=" + context.timeLine());
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        texts.add("framing " + kind);
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        texts.add("rejected " + code);
    }
}

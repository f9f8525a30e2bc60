package io.tailrace.identity;

import io.tailrace.event.EventId;
import io.tailrace.event.Stage;

/** Computes the id of a dead letter. The same bytes that are rejected for the same reason always get the same id. */
public final class DeadLetterId {

    private DeadLetterId() {}

    /** Returns the hash of instance, source, file offset, bytes, stage and code. */
    public static EventId of(
            String instance, String source, long offset, byte[] bytes, int from, int to, Stage stage, String code) {
        byte[] digest = new Murmur3()
                .update(instance)
                .update(source)
                .update(offset)
                .update(bytes, from, to)
                .update(stage.name())
                .update(code)
                .digest();
        return new EventId(digest);
    }
}

package io.tailrace.identity;

import io.tailrace.event.EventId;
import io.tailrace.event.Stage;

/** Identity of a dead letter: the same bytes refused for the same reason are one dead letter, whoever finds them. */
public final class DeadLetterId {

    private DeadLetterId() {}

    /** Hash of instance, source, file offset, bytes, stage and code. */
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

package io.tailrace.flink.idle;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sources of a job whose enumerators run in this process, as all enumerators of a job do. Each reports a backlog
 * while all are idle, because one that reports a backlog is enough for the longer interval. Jobs that share the class
 * in a process, such as those of a test, count as one.
 */
final class IdleSources {

    private static final Logger LOG = LoggerFactory.getLogger(IdleSources.class);

    static final IdleSources OF_THIS_PROCESS = new IdleSources();

    private final Map<SplitEnumeratorContext<?>, Boolean> reading = new HashMap<>();
    private boolean areIdle;

    synchronized void set(SplitEnumeratorContext<?> source, boolean isReading) {
        reading.put(source, isReading);
        update();
    }

    synchronized void remove(SplitEnumeratorContext<?> source) {
        reading.remove(source);
        update();
    }

    /** A new source is reading, so that the others report no backlog either. */
    private void update() {
        boolean idle = !reading.isEmpty() && !reading.containsValue(true);
        if (idle != areIdle) {
            areIdle = idle;
            reading.keySet().forEach(source -> report(source, idle));
        }
    }

    /** In the thread of the source: a call from another one would wait for it, and it may wait for the lock. */
    private static void report(SplitEnumeratorContext<?> source, boolean isIdle) {
        try {
            source.runInCoordinatorThread(() -> source.setIsProcessingBacklog(isIdle));
        } catch (RejectedExecutionException e) {
            LOG.debug("a source that is being closed reports no backlog", e);
        }
    }
}

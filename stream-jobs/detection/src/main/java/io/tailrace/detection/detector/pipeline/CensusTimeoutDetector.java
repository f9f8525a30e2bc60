package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.util.List;
import java.util.Map;

/**
 * Detects an instance whose census no longer arrives, so that its minutes are unknown. The job measures the time; this
 * class defines the timeout and the alert.
 */
public final class CensusTimeoutDetector extends PipelineDetector {

    /** Default time to remember an instance without a census, microseconds. */
    public static final long DEFAULT_TTL_MICROS = 7 * ExpiringValueSet.DAY;
    /** Interval after which the alert is repeated while the state lasts, microseconds. */
    public static final long AGAIN_MICROS = ExpiringValueSet.DAY;

    private static final long MINUTE = 60_000_000L;
    /** Two rounds of the census, microseconds. */
    private static final long MIN_MICROS = 20_000_000L;

    private final long timeoutMicros;
    private final long ttlMicros;
    private final DetectorAlertFactory alerts;

    private CensusTimeoutDetector(DetectorDefinition basis, long timeoutMicros, long ttlMicros) {
        super(basis);
        this.timeoutMicros = timeoutMicros;
        this.ttlMicros = ttlMicros;
        this.alerts = new DetectorAlertFactory(basis.header(), List.of("instance"));
    }

    public static CensusTimeoutDetector of(DetectorOptions settings, DetectorDefinition basis) {
        long timeout = settings.timespan("timeout", 5 * MINUTE);
        if (timeout < MIN_MICROS) {
            throw settings.refusal(
                    "timeout",
                    "timeout is expected to be at least 20s, two rounds of the census",
                    settings.text("timeout"));
        }
        return new CensusTimeoutDetector(basis, timeout, settings.timespan("ttl", DEFAULT_TTL_MICROS));
    }

    /** Returns how long an instance may be without a census, in microseconds. */
    public long timeoutMicros() {
        return timeoutMicros;
    }

    @Override
    public long ttlMicros() {
        return ttlMicros;
    }

    /**
     * Creates the alert for an instance without a census. The id is derived from the first three arguments, so a
     * repetition after a restart is the same alert.
     *
     * @param lastSeen time of its newest census, microseconds since 1970 UTC
     * @param repetition number of earlier alerts for this period without a census
     * @param now microseconds since 1970 UTC
     */
    public RaisedAlert alert(String instance, long lastSeen, long repetition, long now) {
        long minutes = (now - lastSeen) / MINUTE;
        long micros = lastSeen + timeoutMicros + repetition * AGAIN_MICROS;
        return alerts.alert(
                observation(List.of(instance), micros),
                lastSeen + "/" + repetition,
                lastSeen,
                minutes,
                List.of(),
                Map.of("last_seen", DetectorAlertFactory.time(lastSeen), "minutes", Long.toString(minutes)));
    }
}

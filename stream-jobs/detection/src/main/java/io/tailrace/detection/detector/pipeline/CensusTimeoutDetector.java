package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.util.List;
import java.util.Map;

/**
 * An instance of which no census comes any more: its minutes are unknown. The job keeps the time; this says how long it
 * waits, and what the alert is.
 */
public final class CensusTimeoutDetector extends PipelineDetector {

    /** How long an instance is remembered without events, microseconds, unless the file says otherwise. */
    public static final long DEFAULT_TTL_MICROS = 7 * 24 * ExpiringValueSet.HOUR;
    /** An alert is raised again after so much time, microseconds, while it lasts. */
    public static final long AGAIN_MICROS = 24 * ExpiringValueSet.HOUR;

    private static final long MINUTE = 60_000_000L;
    /** Two rounds of the census. */
    private static final long MIN_MICROS = 20_000_000L;

    private final long silentMicros;
    private final long ttlMicros;
    private final DetectorAlertFactory alerts;

    private CensusTimeoutDetector(DetectorDefinition basis, long silentMicros, long ttlMicros) {
        super(basis);
        this.silentMicros = silentMicros;
        this.ttlMicros = ttlMicros;
        this.alerts = new DetectorAlertFactory(basis.header(), List.of("instance"));
    }

    public static CensusTimeoutDetector of(DetectorOptions settings, DetectorDefinition basis) {
        long silent = settings.timespan("silent", 5 * MINUTE);
        if (silent < MIN_MICROS) {
            throw settings.refusal(
                    "silent",
                    "silent is expected to be at least 20s, two rounds of the census",
                    settings.text("silent"));
        }
        return new CensusTimeoutDetector(basis, silent, settings.timespan("ttl", DEFAULT_TTL_MICROS));
    }

    /** How long an instance may be without a census, microseconds. */
    public long silentMicros() {
        return silentMicros;
    }

    @Override
    public long ttlMicros() {
        return ttlMicros;
    }

    /**
     * What is said of a silent instance. The id goes by the first three: said again after a restart, it is the same
     * alert.
     *
     * @param lastSeen time of its newest census, microseconds since 1970 UTC
     * @param repetition how often it was said of this silence before
     * @param now microseconds since 1970 UTC
     */
    public RaisedAlert alert(String instance, long lastSeen, long repetition, long now) {
        long minutes = (now - lastSeen) / MINUTE;
        long micros = lastSeen + silentMicros + repetition * AGAIN_MICROS;
        return alerts.alert(
                new Observation(key(), List.of(instance), List.of(), 0, micros, "", "", "", false),
                lastSeen + "/" + repetition,
                lastSeen,
                minutes,
                List.of(),
                Map.of("last_seen", DetectorAlertFactory.time(lastSeen), "minutes", Long.toString(minutes)));
    }
}

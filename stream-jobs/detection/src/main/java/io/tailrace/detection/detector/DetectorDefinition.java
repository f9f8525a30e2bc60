package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.io.DataInput;
import java.io.IOException;
import java.util.List;

/**
 * The properties of every detector.
 *
 * @param exceptions events that the detector ignores
 * @param ttlMicros how long an entity without events is remembered, microseconds
 */
public record DetectorDefinition(RuleHeader header, Expression exceptions, long ttlMicros) {

    public static DetectorDefinition of(DetectorOptions settings) {
        return new DetectorDefinition(settings.header(), settings.exceptions(), settings.ttlMicros());
    }

    public boolean isExcepted(DetectionEvent event) {
        return exceptions.matches(event);
    }

    public Observation observation(DetectionEvent event, List<String> entity, List<String> values) {
        return observation(event, event.actionId(), entity, values, 0);
    }

    /**
     * @param actionId passed by the caller, because most events are observed and resolving the action of each is
     *     expensive
     */
    public Observation observation(
            DetectionEvent event, String actionId, List<String> entity, List<String> values, double amount) {
        return new Observation(
                header.key(),
                entity,
                values,
                amount,
                event.micros(),
                event.id(),
                actionId,
                RaisedAlert.shortened(DetectorEventFields.statement(event)),
                false);
    }

    /** Reads and checks the version with which every state begins. */
    public static void requireVersion(DataInput in, byte version) throws IOException {
        requireVersion(in, version, version);
    }

    /** Reads and checks the version of a state that may have an older layout. */
    public static byte requireVersion(DataInput in, byte oldest, byte newest) throws IOException {
        byte found = in.readByte();
        if (found < oldest || found > newest) {
            throw new IOException("expected state of version " + newest + ", found " + found);
        }
        return found;
    }
}

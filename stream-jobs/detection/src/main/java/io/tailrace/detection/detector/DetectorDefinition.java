package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.RuleHeader;
import java.io.DataInput;
import java.io.IOException;
import java.util.List;

/**
 * What every detector has.
 *
 * @param exceptions events that it does not look at
 * @param ttlMicros how long an entity without events is remembered
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

    /** @param actionId for what is observed of most events, where finding an action would cost too much */
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

    /** Reads and checks the version that every state begins with. */
    public static void requireVersion(DataInput in, byte version) throws IOException {
        requireVersion(in, version, version);
    }

    /** The same, of a state that older versions are read of, too. */
    public static byte requireVersion(DataInput in, byte oldest, byte newest) throws IOException {
        byte found = in.readByte();
        if (found < oldest || found > newest) {
            throw new IOException("expected state of version " + newest + ", found " + found);
        }
        return found;
    }
}

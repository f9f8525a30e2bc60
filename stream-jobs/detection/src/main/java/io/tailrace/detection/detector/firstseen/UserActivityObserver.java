package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.event.DetectionEvent;
import java.util.List;
import java.util.function.Consumer;

/** Observes that a user is active, once for each period. */
public final class UserActivityObserver {

    private UserActivityObserver() {}

    public static void observe(
            DetectionEvent event,
            DetectorDefinition basis,
            ObservationCache recently,
            Consumer<Observation> observations) {
        if (event.values("user").isEmpty() || !DetectorEventFields.isActivity(event)) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        String user = DetectorEventFields.text(event, "user");
        if (recently.isNew(event.micros(), cluster, instance, user) && !basis.isExcepted(event)) {
            observations.accept(basis.observation(event, List.of(cluster, instance, user), List.of()));
        }
    }
}

package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorBasis;
import io.tailrace.detection.detector.EventParts;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.event.DetectionEvent;
import java.util.List;
import java.util.function.Consumer;

/** That a user does something, whatever it is: once for each period. */
public final class UserActivity {

    private UserActivity() {}

    public static void observe(
            DetectionEvent event, DetectorBasis basis, RecentlyObserved recently, Consumer<Observation> observations) {
        if (event.values("user").isEmpty() || !EventParts.isActivity(event)) {
            return;
        }
        String cluster = EventParts.cluster(event);
        String instance = EventParts.instanceAlone(event);
        String user = EventParts.text(event, "user");
        if (recently.isNew(event.micros(), cluster, instance, user) && !basis.isExcepted(event)) {
            observations.accept(basis.observation(event, List.of(cluster, instance, user), List.of()));
        }
    }
}

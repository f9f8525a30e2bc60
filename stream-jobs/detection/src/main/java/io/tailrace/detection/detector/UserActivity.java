package io.tailrace.detection.detector;

import io.tailrace.detection.event.DetectionEvent;
import java.util.List;
import java.util.function.Consumer;

/** That a user does something, whatever it is: once for each period. */
final class UserActivity {

    private UserActivity() {}

    static void observe(
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

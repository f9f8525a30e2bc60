package io.tailrace.detection.correlation;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.Level;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Lowers alerts about a first occurrence while the log of the instance is too young to contain an earlier one: each
 * scheduled job has its first run there. The alert remains, with the level low, and says why.
 */
final class FirstDays {

    private FirstDays() {}

    /** Returns a consumer that lowers the alerts which an event raises. */
    static Consumer<RaisedAlert> lowering(
            CorrelationRule rule, DetectionEvent event, List<String> group, Consumer<RaisedAlert> alerts) {
        if (event.history() >= rule.learning().days() || !learns(rule, group)) {
            return alerts;
        }
        return alert -> alerts.accept(
                alert.rule().level().compareTo(Level.LOW) > 0 ? lowered(alert, event.history(), rule) : alert);
    }

    /** Returns whether the group has the values to which learning is restricted. */
    private static boolean learns(CorrelationRule rule, List<String> group) {
        return rule.learning().only().entrySet().stream().allMatch(field -> {
            int place = rule.groupBy().indexOf(field.getKey());
            return place >= 0 && field.getValue().matcher(group.get(place)).matches();
        });
    }

    private static RaisedAlert lowered(RaisedAlert alert, int days, CorrelationRule rule) {
        String explanation = String.format(
                "The log has %s of history; the level is %s instead of low once it has %s.",
                Explanation.number(days, "day"),
                alert.rule().level().name().toLowerCase(Locale.ROOT),
                rule.learning().days());
        return alert.at(
                Level.LOW, Map.of(DetectionEvent.HISTORY, Integer.toString(days), Explanation.FACT, explanation));
    }
}

package io.tailrace.detection.sigma.rule;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.yaml.RuleError;

/**
 * Events on which a rule deliberately does not match until a date.
 *
 * @param title unique among the exceptions
 * @param rule key of the rule or correlation
 * @param selection events that are excepted
 * @param expiresMicros event time from which on the exception has no effect, microseconds since 1970 UTC
 * @param expires the same as it is written: a date, at whose beginning in UTC the exception ends
 * @param owner person or team that answers for it
 * @param place position in its file, without a reason
 */
public record RuleException(
        String title,
        String rule,
        Expression selection,
        long expiresMicros,
        String expires,
        String reason,
        String owner,
        RuleError place) {

    /** Returns whether the event is excepted. The time of the event decides, so that a backtest gives the same result. */
    public boolean covers(DetectionEvent event) {
        return event.micros() < expiresMicros && selection.matches(event);
    }

    /** @param micros microseconds since 1970 UTC */
    public boolean isExpiredAt(long micros) {
        return micros >= expiresMicros;
    }

    /** Returns a message for the person who checks the rules, with the place of the exception. */
    public RuleError expiry() {
        return new RuleError(
                place.file(),
                place.line(),
                place.column(),
                "the exception \"" + title + "\" of " + owner + " expired on " + expires
                        + " and suppresses nothing later; remove it, or extend it with a new reason");
    }
}

package io.tailrace.detection.correlation;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.identity.Murmur3;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Raises an alert for each match of a correlation with a {@code repeat_level}. Repeated matches have that level. */
final class RepeatedMatches {

    /** The unknown client, and names of the machine of the server. On another server these name another machine. */
    private static final List<String> LOCAL = List.of("", "localhost", "::1");

    private static final String LOOPBACK = "127.";

    private final CorrelationRule rule;

    RepeatedMatches(CorrelationRule rule) {
        this.rule = rule;
    }

    /**
     * Returns the time of an earlier match with the same value, or of an alert about the same change; empty if there is
     * none. A group is one person at one client only if its values are known and no client is the machine of a server.
     *
     * @return microseconds since 1970 UTC
     */
    Optional<Long> reported(RuleMatch match, List<String> group, GroupWindow window) {
        Stream<Long> same = window.occurrences().stream()
                .filter(other -> other.value().equals(match.value()))
                .map(RuleMatch::micros)
                .filter(micros -> Math.abs(match.micros() - micros) < rule.timespanMicros());
        boolean elsewhere = group.stream().noneMatch(value -> LOCAL.contains(value) || value.startsWith(LOOPBACK));
        Stream<Long> ofChange = window.fired().stream()
                .filter(micros -> elsewhere && Math.abs(match.micros() - micros) < rule.changeMicros());
        return Stream.concat(same, ofChange).min(Comparator.naturalOrder());
    }

    /** @param reported time of the alert that the match repeats; empty: the match is the first */
    RaisedAlert alert(
            DetectionEvent event,
            RuleMatch match,
            List<String> group,
            Map<String, String> entity,
            Optional<Long> reported,
            boolean late) {
        Level level = reported.isPresent()
                ? rule.repeatLevel().orElseThrow()
                : rule.header().level();
        Murmur3 hash = new Murmur3();
        hash.update(rule.header().key()).update(match.actionId());
        group.forEach(hash::update);
        return new RaisedAlert(
                HexFormat.of().formatHex(hash.digest()),
                rule.header().at(level),
                match.micros(),
                match.micros(),
                entity,
                1,
                List.of(match.named()),
                RaisedAlert.statements(event),
                reported.map(RepeatedMatches::facts).orElse(Map.of()),
                late);
    }

    private static Map<String, String> facts(long reported) {
        return Map.of(
                "first_reported",
                Instant.EPOCH.plus(reported, ChronoUnit.MICROS).toString());
    }
}

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
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Raises an alert for each match of a correlation with a {@code repeat_level}. Repeated matches have that level. */
final class RepeatedMatches {

    /** The unknown client, and names of the machine of the server. On another server these name another machine. */
    private static final List<String> LOCAL = List.of("", "localhost", "::1");

    private static final String LOOPBACK = "127.";
    private static final long DAY_MICROS = ChronoUnit.DAYS.getDuration().toMillis() * 1_000;
    /** Number of values that an alert names. */
    private static final int MAX_OTHERS = 8;

    private final CorrelationRule rule;
    private final RuleIds numbers;

    /**
     * Why a match has the level of repeated ones.
     *
     * @param reported time of the alert that it repeats, microseconds since 1970 UTC; empty: there is none
     * @param known time since which its group is known; empty: it is not
     * @param others other values with which its group is known, if the correlation reports known groups only
     */
    record Earlier(Optional<Long> reported, Optional<Long> known, List<String> others) {

        boolean isNone() {
            return reported.isEmpty() && known.isEmpty();
        }

        private Map<String, String> facts() {
            Map<String, String> facts = new TreeMap<>();
            reported.ifPresent(micros -> facts.put("first_reported", time(micros)));
            known.ifPresent(micros -> facts.put("known_since", time(micros)));
            if (!others.isEmpty()) {
                facts.put("known_elsewhere", String.join(", ", others));
            }
            return facts;
        }

        private static String time(long micros) {
            return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
        }
    }

    RepeatedMatches(CorrelationRule rule, RuleIds numbers) {
        this.rule = rule;
        this.numbers = numbers;
    }

    Earlier earlier(RuleMatch match, List<String> group, GroupWindow window) {
        List<String> others = rule.known().only() ? others(match, window) : List.of();
        Optional<Long> reported = rule.known().isByRoutine() ? Optional.empty() : reported(match, group, window);
        return new Earlier(reported, known(match, window), others);
    }

    /** Returns whether a match by which a group is known is not needed, because another one has its day and value. */
    boolean isOfKnownDay(RuleMatch match, GroupWindow window) {
        return rule.known().isByRoutine()
                && window.occurrences().stream().anyMatch(other -> other.isLike(match) && day(other) == day(match));
    }

    private static long day(RuleMatch match) {
        return Math.floorDiv(match.micros(), DAY_MICROS);
    }

    /**
     * Returns whether a match raises no alert because its group is not known, or because another correlation reports it.
     * Clients choose names: it is not stored.
     */
    boolean isOfIgnoredGroup(RuleMatch match, GroupWindow window) {
        return rule.known().only()
                && (knowing(match, window).findAny().isEmpty()
                        || earlier(match, window).anyMatch(this::isExcept));
    }

    /** Drops a match by which a group is known, if others suffice: one remains in every timespan, or on each day. */
    void compact(RuleMatch latest, GroupWindow window) {
        if (!rule.known().isByRoutine()) {
            window.compact(latest, rule.timespanMicros() / 2);
        }
    }

    private List<String> others(RuleMatch match, GroupWindow window) {
        return knowing(match, window)
                .map(RuleMatch::value)
                .filter(value -> !value.equals(match.value()))
                .distinct()
                .sorted()
                .limit(MAX_OTHERS)
                .toList();
    }

    /**
     * Returns the time of an earlier match with the same value, or of an alert about the same change; empty if there is
     * none. A group is one person at one client only if its values are known and no client is the machine of a server.
     *
     * @return microseconds since 1970 UTC
     */
    private Optional<Long> reported(RuleMatch match, List<String> group, GroupWindow window) {
        Stream<Long> same = window.occurrences().stream()
                .filter(other -> !isOfKnown(other) && other.value().equals(match.value()))
                .map(RuleMatch::micros)
                .filter(micros -> Math.abs(match.micros() - micros) < rule.timespanMicros());
        boolean elsewhere = group.stream().noneMatch(value -> LOCAL.contains(value) || value.startsWith(LOOPBACK));
        Stream<Long> ofChange = window.fired().stream()
                .filter(micros -> elsewhere && Math.abs(match.micros() - micros) < rule.changeMicros());
        return Stream.concat(same, ofChange).min(Comparator.naturalOrder());
    }

    /** Returns the time of the first match, with the same value, by which the group is known; empty if it is not. */
    private Optional<Long> known(RuleMatch match, GroupWindow window) {
        List<RuleMatch> same = knowing(match, window)
                .filter(other -> other.value().equals(match.value()))
                .toList();
        long days = same.stream().map(RepeatedMatches::day).distinct().count();
        return days < rule.known().days()
                ? Optional.empty()
                : same.stream().map(RuleMatch::micros).min(Comparator.naturalOrder());
    }

    /** Returns the earlier matches by which the group of a match is known. */
    private Stream<RuleMatch> knowing(RuleMatch match, GroupWindow window) {
        return earlier(match, window).filter(other -> !isExcept(other));
    }

    /** Returns the earlier matches of all rules that make a group known or exclude it. */
    private Stream<RuleMatch> earlier(RuleMatch match, GroupWindow window) {
        return window.occurrences().stream().filter(this::isOfKnown).filter(other -> {
            long age = match.micros() - other.micros();
            return age >= rule.known().afterMicros() && age < rule.timespanMicros();
        });
    }

    private boolean isOfKnown(RuleMatch match) {
        return isOf(match, rule.known().rules());
    }

    private boolean isExcept(RuleMatch match) {
        return isOf(match, rule.known().except());
    }

    private boolean isOf(RuleMatch match, Set<String> rules) {
        int place = numbers.place(match.rule());
        return place >= 0 && rules.contains(rule.rules().get(place));
    }

    RaisedAlert alert(
            DetectionEvent event,
            RuleMatch match,
            List<String> group,
            Map<String, String> entity,
            Earlier earlier,
            boolean late) {
        Level level =
                earlier.isNone() ? rule.header().level() : rule.repeatLevel().orElseThrow();
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
                earlier.facts(),
                late);
    }
}

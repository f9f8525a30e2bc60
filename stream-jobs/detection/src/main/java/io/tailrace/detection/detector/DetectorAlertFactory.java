package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.identity.Murmur3;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Creates the alerts of one detector. */
public final class DetectorAlertFactory {

    private final RuleHeader header;
    private final List<String> fields;

    /**
     * @param fields names of the entity's texts, in their order; further texts of the entity are not part of the alert
     */
    public DetectorAlertFactory(RuleHeader header, List<String> fields) {
        this.header = header;
        this.fields = List.copyOf(fields);
    }

    /** Returns the factory of a detector whose entities are users of an instance or of its cluster. */
    public static DetectorAlertFactory ofUsers(RuleHeader header) {
        return new DetectorAlertFactory(header, List.of("cluster", "instance", "user"));
    }

    /** Returns the known fields of the entity. */
    Map<String, String> entity(Observation observation) {
        Map<String, String> entity = new LinkedHashMap<>();
        for (int i = 0; i < fields.size(); i++) {
            if (!observation.entity().get(i).isEmpty()) {
                entity.put(fields.get(i), observation.entity().get(i));
            }
        }
        return entity;
    }

    /**
     * Creates the alert that an observation caused.
     *
     * @param what distinguishes it from other alerts of the detector about the entity: equal texts result in the same
     *     alert
     */
    public RaisedAlert alert(
            Observation observation,
            String what,
            long windowFrom,
            long metric,
            List<AlertSample> evidence,
            Map<String, String> facts) {
        Map<String, String> entity = entity(observation);
        Murmur3 hash = new Murmur3().update(header.key()).update(what);
        entity.forEach((field, value) -> hash.update(field).update(value));
        Map<String, String> shortFacts = new TreeMap<>();
        facts.forEach((name, fact) -> shortFacts.put(name, RaisedAlert.shortened(fact)));
        return new RaisedAlert(
                HexFormat.of().formatHex(hash.digest()),
                header,
                observation.micros(),
                windowFrom,
                entity,
                metric,
                evidence.stream().map(AlertSample::eventId).distinct().toList(),
                evidence.stream()
                        .map(AlertSample::statement)
                        .filter(statement -> !statement.isEmpty())
                        .distinct()
                        .limit(RaisedAlert.MAX_STATEMENTS)
                        .toList(),
                shortFacts,
                observation.late());
    }

    /** Formats a time for alerts. */
    public static String time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
    }
}

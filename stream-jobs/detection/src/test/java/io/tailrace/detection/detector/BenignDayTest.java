package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies that the complete pack with its detectors raises at most ten alerts a day, of all levels but informational,
 * on benign activity: {@link BenignCompany}. Days of learning come first; their application and monitoring events are
 * thinned, because the test would take hours otherwise. Alerts of one rule and entity within ten minutes are one, as in the detect job.
 */
@Tag("slow")
class BenignDayTest {

    private static final int MAX_PER_DAY = 10;
    private static final int LEARNED_DAYS = 16;
    /** Days of learning raise no alerts that count. They only need all accounts, addresses and tables, and volumes. */
    private static final int LEARNED_THINNED = 10_000;

    private static final int THINNED = 2_000;
    private static final int THINNED_DAYS = 3;
    private static final long GROUP_MICROS = 600_000_000;
    private static final long ADVANCE_MICROS = 600_000_000;
    private static final long LATENESS_MICROS = 60_000_000;
    private static final int MAX_ACTIONS = 100_000;
    /** A Monday. */
    private static final Instant START = Instant.parse("2026-09-07T00:00:00Z");

    private final DetectionEngine rules;
    private final InMemoryDetectorEngine detectors;
    private final DataClassifier classifier;
    private final ActionResolver actions = new ActionResolver(MAX_ACTIONS);
    private final BenignCompany company = new BenignCompany(7, START);
    private final Set<String> groups = new HashSet<>();
    private final Map<String, Integer> ofDay = new TreeMap<>();
    private long events;
    private long advanced;

    BenignDayTest() throws IOException {
        RuleBundle bundle = RuleBundle.of(RuleBundle.files(Path.of("../../rules")), new DatabaseFieldMapping());
        assertThat(bundle.errors()).isEmpty();
        rules = new DetectionEngine(bundle.rules(), LATENESS_MICROS);
        detectors = new InMemoryDetectorEngine(bundle.detectors(), LATENESS_MICROS, () -> Long.MAX_VALUE / 2);
        classifier = new DataClassifier(bundle.dataClasses());
    }

    /** Does not test the volume detectors, because thinned days have lower volumes than the learned ones. */
    @Test
    void thinnedDaysGiveFewAlerts() {
        learn();
        for (int day = 0; day < THINNED_DAYS; day++) {
            day(LEARNED_DAYS + day, hour -> THINNED);
        }
    }

    /** Runs the complete day, or the hours that the properties define. */
    @Test
    @Tag("long")
    void aDayAtAThousandEventsASecondGivesFewAlerts() {
        int from = Integer.getInteger("benign.from", 0);
        int to = Integer.getInteger("benign.to", 24);
        learn();
        day(LEARNED_DAYS, hour -> hour >= from && hour < to ? 1 : THINNED);
    }

    private void learn() {
        for (int day = 0; day < LEARNED_DAYS; day++) {
            company.day(day, hour -> LEARNED_THINNED, true, this::detect);
        }
    }

    private void day(int day, IntUnaryOperator thinned) {
        events = 0;
        ofDay.clear();
        long start = System.nanoTime();
        company.day(day, thinned, false, this::detect);
        int alerts = ofDay.values().stream().mapToInt(Integer::intValue).sum();
        System.out.printf(
                "day %d: %,d events in %d s, %d alerts: %s%n",
                day, events, (System.nanoTime() - start) / 1_000_000_000, alerts, ofDay);
        assertThat(alerts).as(ofDay.toString()).isLessThanOrEqualTo(MAX_PER_DAY);
    }

    private void detect(DetectionEvent event) {
        events++;
        classifier.enrich(event);
        event.actionFrom(actions::of);
        rules.detect(event, alert -> count(alert, event));
        detectors.detect(event, alert -> count(alert, event));
        if (event.micros() - advanced > ADVANCE_MICROS) {
            advanced = event.micros();
            rules.advance(advanced, alert -> count(alert, event));
            detectors.advance(advanced);
        }
    }

    private void count(RaisedAlert alert, DetectionEvent event) {
        if (alert.rule().level() == Level.INFORMATIONAL) {
            return;
        }
        String entity = alert.entity().isEmpty()
                ? "" + event.values("instance") + event.values("user") + event.values("src_ip")
                : alert.entity().toString();
        String title = alert.rule().title();
        if (groups.add(title + '\u001f' + entity + '\u001f' + alert.micros() / GROUP_MICROS)) {
            ofDay.merge(title + " (" + event.values("user") + ')', 1, Integer::sum);
        }
    }
}

package io.tailrace.detection.detector.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorRun;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.rule.Level;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CensusTimeoutDetectorTest {

    private static final Instant LAST_SEEN = Instant.parse("2026-11-21T08:00:00Z");
    private static final long MINUTE = 60_000_000L;

    @Test
    void theAlertContainsTheInstanceAndItsLastCensus() {
        CensusTimeoutDetector coverage = coverage("census_timeout: {timeout: 2m}");
        long lastSeen = DetectorRun.micros(LAST_SEEN);

        RaisedAlert alert = coverage.alert("db-1", lastSeen, 0, lastSeen + 3 * MINUTE);

        assertThat(alert.rule().level()).isEqualTo(Level.HIGH);
        assertThat(alert.entity()).isEqualTo(Map.of("instance", "db-1"));
        assertThat(alert.facts()).isEqualTo(Map.of("last_seen", "2026-11-21T08:00:00Z", "minutes", "3"));
        assertThat(alert.micros()).isEqualTo(lastSeen + 2 * MINUTE);
        assertThat(alert.windowFrom()).isEqualTo(lastSeen);
    }

    @Test
    void anAlertRepeatedAfterARestartIsTheSameAndTheNextDayHasAnother() {
        CensusTimeoutDetector coverage = coverage("census_timeout: {}");
        RaisedAlert first = coverage.alert("db-1", 7, 0, 8 * MINUTE);

        assertThat(coverage.alert("db-1", 7, 0, 9 * MINUTE).id()).isEqualTo(first.id());
        assertThat(coverage.alert("db-1", 7, 1, 9 * MINUTE).id()).isNotEqualTo(first.id());
        assertThat(coverage.alert("db-2", 7, 0, 9 * MINUTE).id()).isNotEqualTo(first.id());
        assertThat(coverage.timeoutMicros()).isEqualTo(5 * MINUTE);
        assertThat(coverage.ttlMicros()).isEqualTo(CensusTimeoutDetector.DEFAULT_TTL_MICROS);
    }

    @Test
    void exceptionsNameServers() {
        CensusTimeoutDetector coverage = coverage("census_timeout: {exceptions: {instance|startswith: test-}}");

        assertThat(coverage.isExcepted("", "test-7")).isTrue();
        assertThat(coverage.isExcepted("", "db-1")).isFalse();
    }

    private static CensusTimeoutDetector coverage(String yaml) {
        DetectorConfig file = DetectorRun.file(yaml);
        assertThat(file.errors()).isEmpty();
        return (CensusTimeoutDetector) file.detectors().get(0);
    }
}

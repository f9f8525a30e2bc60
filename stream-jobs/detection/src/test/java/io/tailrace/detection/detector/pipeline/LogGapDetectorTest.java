package io.tailrace.detection.detector.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorRun;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.Stage;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LogGapDetectorTest {

    private static final Instant AT = Instant.parse("2026-11-21T08:00:00Z");
    private static final LogGapDetector GAPS =
            (LogGapDetector) DetectorRun.file("log_gap: {}").detectors().get(0);

    @Test
    void theAlertContainsTheRange() {
        RaisedAlert lost = GAPS.alert(gap("lost", 4096));
        assertThat(lost.rule().level()).isEqualTo(Level.MEDIUM);
        assertThat(lost.entity()).isEqualTo(Map.of("instance", "db-1", "log", "/audit.log"));
        assertThat(lost.metric()).isEqualTo(904);
        assertThat(lost.facts())
                .containsEntry("kind", "lost")
                .containsEntry("from_offset", "4096")
                .containsEntry("to_offset", "5000")
                .containsEntry("bytes", "904");
    }

    @Test
    void theIdDependsOnTheStartOfTheGap() {
        String id = GAPS.alert(gap("lost", 4096)).id();
        assertThat(GAPS.alert(gap("lost", 4096)).id()).isEqualTo(id);
        assertThat(GAPS.alert(gap("lost", 4097)).id()).isNotEqualTo(id);
    }

    @Test
    void aMissingBeginningOfTheFirstFileIsMinor() {
        LedgerEntry head = gap("head_lost", 0);
        assertThat(GAPS.alert(head).rule().level()).isEqualTo(Level.MEDIUM);
        head.setGeneration(1);
        assertThat(GAPS.alert(head).rule().level()).isEqualTo(Level.LOW);
    }

    private static LedgerEntry gap(String kind, long from) {
        return LedgerEntry.newBuilder()
                .setCluster("shop")
                .setInstance("db-1")
                .setSource("audit")
                .setLog("/audit.log")
                .setPath("/audit.log.1")
                .setGeneration(3)
                .setStage(Stage.FRAMER)
                .setKind(PostingKind.GAP)
                .setDetail(kind)
                .setFromOffset(from)
                .setToOffset(5000)
                .setCount(1)
                .setBytes(5000 - from)
                .setAt(AT)
                .build();
    }
}

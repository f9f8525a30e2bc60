package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.event.LedgerEntry;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/** Detects bytes of a log that never arrived: a gap that the framer posted to the ledger (docs/LEDGER.md). */
public final class LogGapDetector extends PipelineDetector {

    private static final String HEAD_LOST = "head_lost";

    private static final List<String> ENTITY = List.of("instance", "log");

    private final DetectorAlertFactory alerts;
    private final DetectorAlertFactory minorAlerts;

    public LogGapDetector(DetectorDefinition basis) {
        super(basis);
        this.alerts = new DetectorAlertFactory(header(), ENTITY);
        this.minorAlerts = new DetectorAlertFactory(minor(header()), ENTITY);
    }

    /** Limits the level to low. */
    private static RuleHeader minor(RuleHeader header) {
        return new RuleHeader(
                header.id(),
                header.name(),
                header.title(),
                header.description(),
                header.level().compareTo(Level.LOW) < 0 ? header.level() : Level.LOW,
                header.status(),
                header.tags(),
                header.falsePositives(),
                header.nextSteps(),
                header.file(),
                header.line());
    }

    /**
     * Returns whether the gap is the beginning of the first file of a log, which may never have been meant to be read.
     */
    private static boolean isBeforeAll(LedgerEntry gap) {
        return gap.getDetail().equals(HEAD_LOST) && gap.getGeneration() == 1;
    }

    /** Creates the alert of a gap. The id is derived from its start, so a repeated posting is the same alert. */
    public RaisedAlert alert(LedgerEntry gap) {
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, gap.getAt());
        return (isBeforeAll(gap) ? minorAlerts : alerts)
                .alert(
                        observation(List.of(gap.getInstance(), gap.getLog()), micros),
                        gap.getSource() + '/' + gap.getGeneration() + '/' + gap.getFromOffset(),
                        micros,
                        gap.getBytes(),
                        List.of(),
                        Map.of(
                                "kind", gap.getDetail(),
                                "source", gap.getSource(),
                                "log", gap.getLog(),
                                "path", gap.getPath(),
                                "generation", Long.toString(gap.getGeneration()),
                                "from_offset", Long.toString(gap.getFromOffset()),
                                "to_offset", Long.toString(gap.getToOffset()),
                                "bytes", Long.toString(gap.getBytes())));
    }
}

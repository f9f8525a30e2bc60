package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.event.SignedRange;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/** Detects a signed range that the normalize job could not verify (docs/LEDGER.md, signed ranges). */
public final class SignedRangeDetector extends PipelineDetector {

    private static final List<String> ENTITY = List.of("instance", "log", "host");
    /** Only payloads that sign several ranges contain it: in the text of another field its quotes are escaped. */
    private static final String SEVERAL_RANGES = "\"earlier_from\":";

    private final DetectorAlertFactory alerts;

    public SignedRangeDetector(DetectorDefinition basis) {
        super(basis);
        this.alerts = new DetectorAlertFactory(header(), ENTITY);
    }

    /**
     * Creates the alert of a failure. The id is derived from the record, so a repeated message is the same alert. Each
     * row of a record that signs several ranges has an alert of its own.
     */
    public RaisedAlert alert(SignedRange range) {
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, range.getVerifiedAt());
        return alerts.alert(
                observation(List.of(range.getInstance(), range.getLog(), range.getHost()), micros),
                id(range),
                micros,
                range.getToOffset() - range.getFromOffset(),
                List.of(),
                Map.of(
                        "status", range.getStatus(),
                        "reason", range.getReason(),
                        "source", range.getSource(),
                        "path", range.getPath(),
                        "generation", Long.toString(range.getGeneration()),
                        "from_offset", Long.toString(range.getFromOffset()),
                        "to_offset", Long.toString(range.getToOffset()),
                        "key", range.getKey(),
                        "sequence", Long.toString(range.getSequence())));
    }

    private static String id(SignedRange range) {
        String record =
                range.getKey() + '/' + range.getSequence() + '/' + range.getPayloadSha256() + '/' + range.getStatus();
        return range.getPayload().contains(SEVERAL_RANGES) ? record + '/' + range.getFromOffset() : record;
    }
}

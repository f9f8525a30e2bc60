package io.tailrace.flink.detection.plans;

import io.tailrace.event.PlanCapture;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.ingest.PlanCaptureMessage;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanReader;
import io.tailrace.plan.json.RepairKind;
import io.tailrace.plan.record.PlanRecords;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes rows of captured plans. A document that is cut off, too long or too deep, or of which it cannot be decided what
 * is a literal, has no hash that could be compared with another: it is {@value #UNREADABLE}, and its row says why. Not
 * thread-safe.
 */
final class CapturedPlanConverter {

    /** Of rows of the table plans. */
    static final String SOURCE = "explain";

    static final String UNREADABLE = "unreadable";
    /** Bytes of a document that is read: with a thousand tables and partitions it has less. */
    static final int MAX_LENGTH = 4 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(CapturedPlanConverter.class);
    private static final String OK = "ok";

    /**
     * What came of a capture.
     *
     * @param plan its row; empty where there is none
     * @param hasTables the plan reads tables. One that does not (an impossible condition, constant tables of MySQL)
     *     tells of the sample's literals and not of the statement
     */
    record Captured(PlanCapture capture, Optional<StatementPlan> plan, boolean hasTables) {}

    /** A document, or why it is none. */
    private record Document(Optional<Plan> plan, String error) {

        static Document unreadable(String error) {
            return new Document(Optional.empty(), error);
        }
    }

    private final PlanReader reader = new PlanReader();
    private final PlanRecords records = new PlanRecords();

    /** Never throws: whatever a server printed, the next one is read. */
    Captured read(PlanCaptureMessage message) {
        PlanCapture capture = capture(message);
        if (!message.status().equals(OK)) {
            return new Captured(capture, Optional.empty(), false);
        }
        Document document = document(message);
        if (document.plan().isEmpty()) {
            capture.setStatus(UNREADABLE);
            capture.setError(document.error());
            return new Captured(capture, Optional.empty(), false);
        }
        StatementPlan plan = row(message, document.plan().get());
        capture.setPlanHash(plan.getPlanHash());
        return new Captured(capture, Optional.of(plan), !plan.getTables().isEmpty());
    }

    private static PlanCapture capture(PlanCaptureMessage message) {
        PlanCapture capture = new PlanCapture();
        capture.setCluster(message.cluster());
        capture.setInstance(message.instance());
        capture.setDatabase(message.database());
        capture.setQueryId(message.queryId());
        capture.setCapturedAt(time(message.at()));
        capture.setStatus(message.status());
        capture.setError(CaptureErrorMask.shown(message.error()));
        capture.setPlanHash("");
        capture.setProduct(message.product());
        capture.setServerVersion(message.serverVersion());
        capture.setSeconds(message.seconds());
        return capture;
    }

    private Document document(PlanCaptureMessage message) {
        int bytes = message.planTo() - message.planFrom();
        if (bytes > MAX_LENGTH) {
            return Document.unreadable(
                    String.format(Locale.ROOT, "the plan has %,d bytes; %,d are read at most", bytes, MAX_LENGTH));
        }
        try {
            return whole(reader.read(message.bytes(), message.planFrom(), message.planTo()), bytes);
        } catch (RuntimeException | StackOverflowError e) {
            LOG.warn("a plan of {} bytes of {} could not be read", bytes, message.serverVersion(), e);
            return Document.unreadable("the document is of no form that is known");
        }
    }

    private static Document whole(Optional<Plan> plan, int bytes) {
        if (plan.isEmpty()) {
            return Document.unreadable(String.format(Locale.ROOT, "no plan is in the document of %,d bytes", bytes));
        }
        if (plan.get().repairs().count(RepairKind.TRUNCATED) > 0) {
            return Document.unreadable(String.format(Locale.ROOT, "the plan is cut off after %,d bytes", bytes));
        }
        if (plan.get().doubtful()) {
            return Document.unreadable("the plan's quotes do not match: what of it is a literal cannot be told");
        }
        boolean tooDeep = plan.get().repairs().count(RepairKind.TOO_DEEP) > 0;
        return tooDeep ? Document.unreadable("the plan is nested too deep") : new Document(plan, "");
    }

    private StatementPlan row(PlanCaptureMessage message, Plan plan) {
        StatementPlan row = records.of(plan);
        row.setCluster(message.cluster());
        row.setInstance(message.instance());
        row.setQueryId(message.queryId());
        row.setSource(SOURCE);
        row.setSeenAt(time(message.at()));
        row.setDatabase(message.database());
        row.setServerVersion(message.serverVersion());
        return row;
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}

package io.tailrace.flink.detection.plans;

import io.tailrace.event.PlanCapture;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.ingest.PlanCaptureMessage;
import io.tailrace.plan.Plan;
import io.tailrace.plan.json.RepairKind;
import io.tailrace.plan.reader.PlanReader;
import io.tailrace.plan.record.PlanRecords;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts captured plans to rows. A document that is truncated, too long or nested too deeply, or whose literals
 * cannot be determined, has no comparable hash. Its hash is {@value #UNREADABLE}, and its row contains the reason. Not
 * thread-safe.
 */
final class CapturedPlanConverter {

    /** The source of these rows in the table plans. */
    static final String SOURCE = "explain";

    static final String UNREADABLE = "unreadable";
    /** Maximum size of a document in bytes; one with a thousand tables and partitions is smaller. */
    static final int MAX_LENGTH = 4 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(CapturedPlanConverter.class);
    private static final String OK = "ok";

    /**
     * The result of a capture.
     *
     * @param plan row of the plan; empty if there is none
     * @param hasTables the plan reads tables. A plan without tables (an impossible condition, constant tables of MySQL)
     *     depends on the sample's literals and does not describe the statement
     */
    record Captured(PlanCapture capture, Optional<StatementPlan> plan, boolean hasTables) {}

    /** A parsed document, or the reason why it could not be parsed. */
    private record Document(Optional<Plan> plan, String error) {

        static Document unreadable(String error) {
            return new Document(Optional.empty(), error);
        }
    }

    private final PlanReader reader = new PlanReader();
    private final PlanRecords records = new PlanRecords();

    /** Never throws, so that the output of one server does not stop the others. */
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
                    String.format(Locale.ROOT, "the plan has %,d bytes; the maximum is %,d", bytes, MAX_LENGTH));
        }
        try {
            return whole(reader.read(message.bytes(), message.planFrom(), message.planTo()), bytes);
        } catch (RuntimeException | StackOverflowError e) {
            LOG.warn("a plan of {} bytes of {} could not be read", bytes, message.serverVersion(), e);
            return Document.unreadable("the format of the document is unknown");
        }
    }

    private static Document whole(Optional<Plan> plan, int bytes) {
        if (plan.isEmpty()) {
            return Document.unreadable(String.format(Locale.ROOT, "no plan in the document of %,d bytes", bytes));
        }
        if (plan.get().repairs().count(RepairKind.TRUNCATED) > 0) {
            return Document.unreadable(String.format(Locale.ROOT, "the plan is truncated after %,d bytes", bytes));
        }
        if (plan.get().doubtful()) {
            return Document.unreadable("the plan's quotes do not match, so its literals cannot be determined");
        }
        boolean tooDeep = plan.get().repairs().count(RepairKind.TOO_DEEP) > 0;
        return tooDeep ? Document.unreadable("the plan is nested too deeply") : new Document(plan, "");
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

package io.tailrace.flink.detection.plans;

import io.tailrace.detect.PlanSighting;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.PlanCapture;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.MalformedMessageHandler;
import io.tailrace.flink.ingest.PlanCaptureMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Reads captured plans. Each capture becomes a row with its result. A plan also becomes a separate row and is sent to
 * the operator that tracks plans. An invalid message becomes a dead letter. It has no state.
 */
public final class PlanCaptureFunction extends ProcessFunction<KafkaMessage, PlanSighting> {

    public static final OutputTag<PlanCapture> CAPTURES =
            new OutputTag<>("plan-captures", new AvroTypeInfo<>(PlanCapture.class));
    public static final OutputTag<StatementPlan> PLANS =
            new OutputTag<>("plans", new AvroTypeInfo<>(StatementPlan.class));
    public static final OutputTag<DeadLetter> DEAD_LETTERS =
            new OutputTag<>("malformed-captures", new AvroTypeInfo<>(DeadLetter.class));

    private static final long serialVersionUID = 1;
    private static final Duration MAX_AHEAD = Duration.ofHours(1);

    private final String version;
    private transient PlanCaptureMessage message;
    private transient CapturedPlanConverter plans;

    /** @param version version of Tailrace, for dead letters */
    public PlanCaptureFunction(String version) {
        this.version = version;
    }

    @Override
    public void open(OpenContext context) {
        message = new PlanCaptureMessage();
        plans = new CapturedPlanConverter();
    }

    @Override
    public void processElement(KafkaMessage record, Context context, Collector<PlanSighting> out) {
        Instant now = Instant.ofEpochMilli(context.timerService().currentProcessingTime());
        String error = validationError(record, now);
        if (error.isEmpty()) {
            capture(context, out);
        } else {
            context.output(DEAD_LETTERS, MalformedMessageHandler.deadLetter(record, error, now, version));
        }
    }

    /**
     * A plan with a time in the future would remain the statement's plan until then, because no capture would be later.
     */
    private String validationError(KafkaMessage record, Instant now) {
        String error = message.read(record.value());
        boolean ahead = error.isEmpty() && message.at() > ChronoUnit.MICROS.between(Instant.EPOCH, now.plus(MAX_AHEAD));
        return ahead ? "at is more than an hour ahead of this machine's clock" : error;
    }

    private void capture(Context context, Collector<PlanSighting> out) {
        CapturedPlanConverter.Captured captured = plans.read(message);
        context.output(CAPTURES, captured.capture());
        captured.plan().ifPresent(plan -> context.output(PLANS, plan));
        if (captured.hasTables()) {
            out.collect(observation(captured.capture().getPlanHash()));
        }
    }

    private PlanSighting observation(String plan) {
        return new PlanSighting(
                message.cluster(),
                message.instance(),
                message.database(),
                message.queryId(),
                plan,
                message.at(),
                0,
                0,
                Double.NaN,
                0);
    }
}

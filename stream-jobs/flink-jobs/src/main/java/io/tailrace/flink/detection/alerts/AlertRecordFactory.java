package io.tailrace.flink.detection.alerts;

import io.tailrace.detection.EntityKey;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.event.EventId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;

/** Creates alerts in the form in which they are stored and published. */
public final class AlertRecordFactory {

    private AlertRecordFactory() {}

    /**
     * Creates an alert that represents only itself.
     *
     * @param context fields of the event that made the rule fire, see {@link AlertContext}
     * @param late true also for a backfill, which the engine does not detect
     */
    public static io.tailrace.event.Alert of(
            RaisedAlert alert, Map<String, String> context, boolean late, Instant now) {
        RuleHeader rule = alert.rule();
        io.tailrace.event.Alert record = new io.tailrace.event.Alert();
        record.setAlertId(new EventId(HexFormat.of().parseHex(alert.id())));
        record.setRuleId(rule.key());
        record.setRuleTitle(rule.title());
        record.setLevel(rule.level().name().toLowerCase(Locale.ROOT));
        record.setTags(rule.tags());
        record.setNextSteps(rule.nextSteps());
        record.setFalsePositives(rule.falsePositives());
        record.setRuleFile(rule.file());
        record.setEntity(alert.entity());
        record.setEntityKey(EntityKey.of(alert.entity()));
        record.setEventTime(time(alert.micros()));
        record.setWindowFrom(time(alert.windowFrom()));
        record.setSeenAt(now.truncatedTo(ChronoUnit.MICROS));
        record.setUpdatedAt(record.getSeenAt());
        record.setCount(1);
        record.setMetric(alert.metric());
        record.setEventIds(alert.eventIds());
        record.setStatements(alert.statements());
        record.setFacts(alert.facts());
        record.setLate(alert.late() || late);
        record.setLinkPath(AlertLinkBuilder.of(alert.entity(), rule.title(), alert.windowFrom(), alert.micros()));
        setAbout(record, alert.entity(), context);
        return record;
    }

    private static void setAbout(
            io.tailrace.event.Alert record, Map<String, String> entity, Map<String, String> context) {
        record.setCluster(named(AlertContext.CLUSTER, entity, context));
        record.setInstance(named(AlertContext.INSTANCE, entity, context));
        record.setUser(named(AlertContext.USER, entity, context));
        record.setSrcIp(named(AlertContext.SRC_IP, entity, context));
        record.setDatabase(named(AlertContext.DATABASE, entity, context));
        record.setProgram(named(AlertContext.PROGRAM, entity, context));
    }

    /**
     * Values of the entity are case-folded; if the value of the event is the same, it is shown with its original case.
     */
    private static String named(String field, Map<String, String> entity, Map<String, String> context) {
        String ofEvent = context.getOrDefault(field, "");
        String ofEntity = entity.getOrDefault(field, ofEvent);
        return ofEntity.equalsIgnoreCase(ofEvent) ? ofEvent : ofEntity;
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}

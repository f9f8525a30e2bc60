package io.tailrace.errorlog;

import io.tailrace.event.ErrorEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.identity.EventIds;
import io.tailrace.innodb.DeadlockReport;
import io.tailrace.innodb.MonitorReport;
import io.tailrace.innodb.RedoLogCapacities;
import io.tailrace.lexer.ByteText;
import io.tailrace.time.CivilTime;
import io.tailrace.time.LogTime;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Converts an entry of an error log into an {@link ErrorEvent}. */
final class ErrorLogParser implements EntryParser {

    private static final long DAY = 86_400_000_000L;
    private static final String END_OF_MONITOR = "END OF INNODB MONITOR OUTPUT";

    /** Members of the JSON sink that are fields of the event; the others become details. */
    private static final List<String> FIELDS = List.of(
            "msg",
            "label",
            "subsystem",
            "err_code",
            "time",
            "ts",
            "prio",
            "thread",
            "buffered",
            "log_type",
            "file",
            "log");

    private final RedoLogCapacities redoLogs;
    private final LogTime times = new LogTime();
    private final EventIds ids = new EventIds();
    private final MessageMask safe = new MessageMask();
    private final ErrorLine header = new ErrorLine();
    private final JsonMembers json = new JsonMembers();

    ErrorLogParser(RedoLogCapacities redoLogs) {
        this.redoLogs = redoLogs;
    }

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        byte[] bytes = entry.bytes();
        int next = ByteText.lineFeed(bytes, entry.from(), entry.to());
        int end = ByteText.withoutLineEnd(bytes, entry.from(), next);
        boolean own = header.read(bytes, entry.from(), end);
        boolean monitor = !own && isMonitor(bytes, next + 1, entry.to());
        List<String> flags = new ArrayList<>(2);
        long time = time(entry, own, monitor, flags);
        if (time == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_HEADER, "expected a time at the start of a message, found none");
            return;
        }
        ErrorEvent event = event(entry, time, flags);
        if (entry.context().ambiguous() && entry.context().forgedHeader()) {
            event.setLevel(Levels.named(ByteText.utf8(bytes, header.levelFrom, header.levelTo)));
            withheld(event, out);
            return;
        }
        if (own && header.form == ErrorLine.Form.JSON) {
            json(event, bytes, entry.from(), entry.to());
        } else if (own && header.form == ErrorLine.Form.WRAPPED) {
            wrapped(event, bytes, entry.from(), entry.to());
        } else {
            text(event, bytes, own ? header.messageFrom : entry.from(), entry.to());
        }
        if (!own && !monitor) {
            EventFlag.CONTINUATION.addTo(flags);
        }
        classify(event, monitor);
        out.error(event);
    }

    /**
     * Reports an entry that may be text of a client's literal, including its header. Only its position, time and
     * level are reported, because this cannot be decided.
     */
    private static void withheld(ErrorEvent event, ParseListener out) {
        event.setMessage("?");
        event.setKind(ErrorKind.OTHER.text());
        out.error(event);
    }

    private static boolean isMonitor(byte[] bytes, int from, int to) {
        return from < to && MessageBoundaries.isMonitorHeader(bytes, from, ByteText.lineFeed(bytes, from, to));
    }

    private long time(LogEntry entry, boolean own, boolean monitor, List<String> flags) {
        byte[] bytes = entry.bytes();
        String zone = entry.origin().zone();
        if (monitor) {
            int from = ByteText.lineFeed(bytes, entry.from(), entry.to()) + 1;
            int to = LogTime.end(bytes, from, entry.to());
            return to < 0 ? CivilTime.NONE : times.micros(bytes, from, to, zone);
        }
        if (own && header.form != ErrorLine.Form.TIME_OF_DAY) {
            return times.micros(bytes, header.timeFrom, header.timeTo, zone);
        }
        EventFlag.TIME_INHERITED.addTo(flags);
        byte[] inherited = entry.context().timeLine().getBytes(StandardCharsets.ISO_8859_1);
        long time = times.micros(inherited, 0, inherited.length, zone);
        return own && time != CivilTime.NONE ? timeOfDay(bytes, time) : time;
    }

    /** Returns the first such time of day (UTC) that is at most one hour before the last message. */
    private long timeOfDay(byte[] bytes, long after) {
        int from = header.timeFrom;
        long second = CivilTime.epochSecond(
                1970,
                1,
                1,
                CivilTime.number(bytes, from, 2),
                CivilTime.number(bytes, from + 3, 2),
                CivilTime.number(bytes, from + 6, 2));
        if (second == CivilTime.NONE) {
            return after;
        }
        long time = Math.floorDiv(after, DAY) * DAY + second * 1_000_000;
        return time < after - DAY / 24 ? time + DAY : time;
    }

    private ErrorEvent event(LogEntry entry, long time, List<String> flags) {
        ErrorEvent event = new ErrorEvent();
        event.setEventId(ids.event(entry, time));
        event.setCluster(entry.origin().cluster());
        event.setInstance(entry.origin().instance());
        event.setSource(entry.origin().source());
        event.setLog(entry.origin().log());
        event.setGeneration(entry.generation());
        event.setEntryOffset(entry.offset());
        event.setEntryBytes(entry.to() - entry.from());
        event.setFormat(ErrorLogFormat.NAME);
        event.setEventTime(CivilTime.instant(time));
        event.setLevel("");
        event.setSubsystem("");
        event.setCode("");
        event.setUser("");
        event.setHost("");
        event.setIp("");
        event.setDatabase("");
        event.setDetails(new HashMap<>());
        if (entry.context().forgedHeader()) {
            EventFlag.FORGED_HEADER.addTo(flags);
        }
        if (entry.context().ambiguous()) {
            EventFlag.FRAMING_AMBIGUOUS.addTo(flags);
        }
        event.setFlags(flags);
        return event;
    }

    /** Sets the header's fields and the message. */
    private void text(ErrorEvent event, byte[] bytes, int messageFrom, int to) {
        if (header.form != ErrorLine.Form.NONE) {
            event.setLevel(Levels.named(ByteText.utf8(bytes, header.levelFrom, header.levelTo)));
            event.setCode(ByteText.utf8(bytes, header.codeFrom, header.codeTo));
            event.setSubsystem(ByteText.utf8(bytes, header.subsystemFrom, header.subsystemTo));
            event.setThreadId(Math.max(0, ByteText.unsigned(bytes, header.threadFrom, header.threadTo)));
        }
        message(event, bytes, messageFrom, to);
    }

    private void message(ErrorEvent event, byte[] bytes, int from, int to) {
        event.setMessage(safe.of(bytes, from, to));
        if (safe.isCut()) {
            EventFlag.TRUNCATED.addTo(event.getFlags());
        }
    }

    private void json(ErrorEvent event, byte[] bytes, int from, int to) {
        Map<String, String> members = new HashMap<>();
        if (!json.read(bytes, from, to, members)) {
            EventFlag.MALFORMED_JSON.addTo(event.getFlags());
        }
        event.setLevel(Levels.named(members.getOrDefault("label", "")));
        event.setSubsystem(members.getOrDefault("subsystem", ""));
        long code = ErrorDetails.number(members.getOrDefault("err_code", ""));
        event.setCode(members.containsKey("err_code") ? String.format("MY-%06d", code) : "");
        event.setThreadId(ErrorDetails.number(members.getOrDefault("thread", "")));
        byte[] message = members.getOrDefault("msg", "").getBytes(StandardCharsets.UTF_8);
        message(event, message, 0, message.length);
        members.forEach((name, value) -> {
            if (!FIELDS.contains(name)) {
                event.getDetails().put(name, value.substring(0, Math.min(value.length(), 512)));
            }
        });
    }

    /** Reads a line of text in a container's log: {@code {"log":"…","file":"…"}}. */
    private void wrapped(ErrorEvent event, byte[] bytes, int from, int to) {
        Map<String, String> members = new HashMap<>();
        if (!json.read(bytes, from, to, members)) {
            EventFlag.MALFORMED_JSON.addTo(event.getFlags());
        }
        byte[] inner = members.getOrDefault("log", "").getBytes(StandardCharsets.UTF_8);
        int firstEnd = ByteText.withoutLineEnd(inner, 0, ByteText.lineFeed(inner, 0, inner.length));
        header.read(inner, 0, firstEnd);
        text(event, inner, header.messageFrom, inner.length);
        ErrorDetails.put(event.getDetails(), "file", members.getOrDefault("file", ""));
    }

    private void classify(ErrorEvent event, boolean monitor) {
        String message = event.getMessage();
        ErrorKind kind =
                monitor ? ErrorKind.INNODB_MONITOR : ErrorKinds.of(event.getSubsystem(), event.getCode(), message);
        event.setKind(kind.text());
        if (kind == ErrorKind.INNODB_MONITOR) {
            monitor(event, message);
        } else if (kind == ErrorKind.DEADLOCK && message.contains("***")) {
            DeadlockReport.read(message, "", safe.statements(), event.getDetails());
            if (!isWholeDeadlock(message)) {
                EventFlag.FRAGMENT.addTo(event.getFlags());
            }
        } else {
            ErrorDetails.read(event, kind);
            statement(event);
        }
    }

    private static boolean isWholeDeadlock(String message) {
        return message.contains("WE ROLL BACK TRANSACTION")
                && message.contains("(2) TRANSACTION")
                && message.contains("(1) TRANSACTION");
    }

    private void monitor(ErrorEvent event, String message) {
        long capacity = redoLogs.of(event.getInstance());
        MonitorReport report = MonitorReport.read(message, safe.statements(), capacity, event.getDetails());
        if (report.isCheckpointAgeHigh()) {
            EventFlag.CHECKPOINT_AGE_HIGH.addTo(event.getFlags());
        }

        if (!message.contains(END_OF_MONITOR)) {
            EventFlag.FRAGMENT.addTo(event.getFlags());
        }
    }

    /** Sets the class of the statement that the message quotes. */
    private void statement(ErrorEvent event) {
        if (!safe.statements().isEmpty()) {
            event.getDetails().put("query_id", safe.statements().get(0).queryIdText());
        }
    }
}

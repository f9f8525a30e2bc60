package io.tailrace.flink.clickhouse;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.EventId;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.Stage;
import io.tailrace.event.TraceSpan;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Creates rows for tests. */
final class Rows {

    static final Instant TODAY = Instant.now().truncatedTo(ChronoUnit.DAYS);

    private Rows() {}

    static LedgerEntry posting(long number) {
        LedgerEntry posting = new LedgerEntry();
        posting.setCluster("c");
        posting.setInstance("db-1");
        posting.setSource("slowlog");
        posting.setLog("/slow.log");
        posting.setPath("/slow.log");
        posting.setGeneration(1);
        posting.setStage(Stage.FRAMER);
        posting.setKind(PostingKind.ENTRY);
        posting.setDetail("");
        posting.setFromOffset(number);
        posting.setToOffset(number + 1);
        posting.setCount(1);
        posting.setBytes(-1);
        posting.setAt(TODAY);
        return posting;
    }

    static DeadLetter deadLetter(long number) {
        DeadLetter letter = new DeadLetter();
        letter.setDeadLetterId(id(number));
        letter.setCluster("c");
        letter.setInstance("db-1");
        letter.setSource("slowlog");
        letter.setLog("/slow.log");
        letter.setGeneration(1);
        letter.setEntryOffset(number);
        letter.setEntryBytes(12);
        letter.setStage(Stage.PARSER);
        letter.setCode("BAD_HEADER");
        letter.setMessage("expected a header");
        letter.setRaw(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        letter.setSeenAt(TODAY);
        letter.setSuperseded(true);
        letter.setVersion("1");
        return letter;
    }

    static Fingerprint fingerprint(List<Long> previousIds) {
        return new Fingerprint(5L, "tailrace-2", "select ?", "SELECT", TODAY, List.of(), List.of("t"), previousIds);
    }

    /** Returns a span with this number of events. */
    static TraceSpan span(int events) {
        TraceSpan span = new TraceSpan();
        span.setTimestamp(TODAY.getEpochSecond() * 1_000_000_000L);
        span.setTraceId("4bf92f3577b34da6a3ce929d0e0e4736");
        span.setSpanId("00f067aa0ba902b7");
        span.setParentSpanId("");
        span.setTraceState("");
        span.setSpanName("SELECT shop");
        span.setSpanKind("Client");
        span.setServiceName("shop");
        span.setResourceAttributes(Map.of("service.name", "shop"));
        span.setScopeName("");
        span.setScopeVersion("");
        span.setSpanAttributes(Map.of());
        span.setDuration(events);
        span.setStatusCode("Unset");
        span.setStatusMessage("");
        span.setEventsTimestamp(Collections.nCopies(events, 1L));
        span.setEventsName(Collections.nCopies(events, "retry"));
        span.setEventsAttributes(Collections.nCopies(events, Map.of("n", "1")));
        span.setLinksTraceId(List.of());
        span.setLinksSpanId(List.of());
        span.setLinksTraceState(List.of());
        span.setLinksAttributes(List.of());
        span.setRuleSet("");
        span.setFingerprint("");
        span.setDatabase("");
        span.setEndpoint("GET /orders");
        return span;
    }

    private static EventId id(long number) {
        return new EventId(ByteBuffer.allocate(16)
                .putLong(0x0102030405060708L)
                .putLong(number)
                .array());
    }

    static QueryEvent event(long number) {
        QueryEvent event = new QueryEvent();
        event.setEventId(id(number));
        event.setCluster("c");
        event.setInstance("db-1");
        event.setSource("slowlog");
        event.setLog("/slow.log");
        event.setGeneration(1);
        event.setEntryOffset(number);
        event.setEntryBytes(1);
        event.setFormat("mysql-slow");
        event.setEventTime(TODAY.plusNanos(123_456_000));
        event.setUser("Zoë");
        event.setHost("h");
        event.setIp("");
        event.setDatabase("shop");
        event.setQueryId(-1);
        event.setRuleSet("tailrace-1");
        event.setVerb("SELECT");
        event.setQueryTime(0.25);
        event.setRowsExamined(number);
        event.setBytesSent(7L);
        event.setWeight(1);
        event.setPlanFlags(List.of("full_scan", "filesort"));
        event.setExplain("");
        event.setPlanHash("");
        event.setAttributes(Map.of("Bytes_received", "12"));
        event.setFlags(List.of());
        event.setTablesRead(List.of("shop.orders", "customers"));
        event.setTablesWritten(List.of());
        event.setTags(Map.of("action", "index"));
        event.setTraceId("4bf92f3577b34da6a3ce929d0e0e4736");
        event.setSpanId("00f067aa0ba902b7");
        event.setAccounts(List.of());
        return event;
    }
}

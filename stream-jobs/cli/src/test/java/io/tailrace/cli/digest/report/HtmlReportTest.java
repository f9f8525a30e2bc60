package io.tailrace.cli.digest.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.Grouping;
import io.tailrace.cli.digest.aggregate.Ranking;
import io.tailrace.event.QueryEvent;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class HtmlReportTest {

    private static final String EVIL = "</script><img src=x onerror='alert(\"1\")'>&\u202e";

    private static QueryEvent event(int second, double seconds) {
        QueryEvent event = new QueryEvent();
        event.setEventTime(Instant.parse("2026-11-21T02:00:00Z").plusSeconds(second));
        event.setUser(EVIL);
        event.setHost(EVIL);
        event.setDatabase(EVIL);
        event.setVerb("SELECT");
        event.setQueryId(second % 3);
        event.setQueryTime(seconds);
        event.setWeight(1);
        event.setErrorCode(1213);
        event.setPlanFlags(List.of(EVIL));
        event.setFlags(List.of());
        event.setTablesRead(List.of(EVIL));
        event.setTablesWritten(List.of());
        event.setTags(Map.of("route", EVIL));
        event.setAttributes(Map.of());
        return event;
    }

    private static String html(Grouping grouping, boolean timed, int statements) {
        Digest digest = new Digest(grouping, timed);
        for (int i = 0; i < statements; i++) {
            QueryEvent event = event(i, i * 0.01);
            digest.see(event);
            digest.add(event, "select " + EVIL, "select `" + EVIL + "`");
        }
        Report.Inputs inputs = new Report.Inputs(List.of(EVIL), 1, 1, 1, EVIL, List.of(EVIL), false);
        return new HtmlReport(new Report(digest, inputs, Ranking.TOTAL, 2, ZoneOffset.UTC, false)).write();
    }

    @Test
    void whatALogHoldsIsTextAndNeverMarkup() {
        for (String html : List.of(
                html(Grouping.QUERY, true, 60),
                html(Grouping.QUERY, false, 60),
                html(Grouping.named("user"), true, 60),
                html(Grouping.named("table"), true, 60),
                html(Grouping.named("tag:route"), true, 60),
                html(Grouping.QUERY, true, 1),
                html(Grouping.QUERY, true, 0))) {
            assertThat(html).doesNotContain("<img").doesNotContain("\u202e").contains("&lt;/script&gt;");
            assertThat(html).contains("default-src 'none'").endsWith("</html>\n");
        }
    }

    @Test
    void itNeedsNoNetwork() {
        String html = html(Grouping.QUERY, true, 60);
        assertThat(Pattern.compile("(src|href)=\"(?!#)|url\\(|@import|https?:")
                        .matcher(html)
                        .find())
                .isFalse();
        assertThat(html).contains("<svg").contains("prefers-color-scheme: dark").doesNotContain("NaN");
    }
}

package io.tailrace.cli.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.event.QueryEvent;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StatementFilterTest {

    private static QueryEvent event() {
        QueryEvent event = new QueryEvent();
        event.setUser("app");
        event.setHost("");
        event.setIp("10.0.0.7");
        event.setDatabase("shop_eu");
        event.setVerb("SELECT");
        event.setFormat("mysql-slow");
        event.setQueryId(0xabc);
        event.setQueryTime(1.5);
        event.setRowsExamined(1000);
        event.setErrorCode(1213);
        event.setTablesRead(List.of("orders"));
        event.setTablesWritten(List.of("archive.orders_2024"));
        event.setTags(Map.of("controller", "carts"));
        event.setTraceId("0af7651916cd43dd8448eb211c80319c");
        event.setWeight(1);
        event.setPlanFlags(List.of("full_scan", "filesort"));
        event.setAttributes(Map.of("Killed", "0", "Merge_passes", "12", "note", "has blank"));
        return event;
    }

    private static boolean accepts(String expression) throws FilterSyntaxException {
        return StatementFilter.of(expression).accepts(event(), "select * from orders where id = ?");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "user=app and query_time>1 and db~^shop and statement~select",
                "user = APP",
                "host=10.0.0.7",
                "query_time>=1500ms and query_time<=1.5 and query_time<2m",
                "query_time > .5s",
                "rows_examined=1000",
                "rows_affected=0",
                "error=1213 or user=nobody",
                "user=nobody and user=x or verb=select",
                "verb=select or user=nobody and user=x",
                "not user=root",
                "not (user=root or db=mysql)",
                "NOT user=root AND flag=full_scan",
                "flag~sort",
                "flag!=tmp_table",
                "user!=root",
                "user!~^r",
                "statement~'from orders where'",
                "statement~(insert|select)",
                "(statement~(insert|select))",
                "header.Merge_passes>10 and header.Merge_passes<12.5",
                "header.note=\"has blank\"",
                "header.absent=''",
                "query_id=0000000000000ABC",
                "table=orders and table=shop_eu.orders and table=archive.orders_2024",
                "table~^archive and not table=items",
                "tag.controller=carts and tag.action=''",
                "trace_id~^0af765",
            })
    void lets(String expression) throws FilterSyntaxException {
        assertThat(accepts(expression)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "user=root",
                "query_time>1.5",
                "not (user=app)",
                "flag!=full_scan",
                "db!~shop",
                "header.Killed>0",
                "header.absent>0",
                "user=app and not verb=select",
                "user='ap''p'",
            })
    void refuses(String expression) throws FilterSyntaxException {
        assertThat(accepts(expression)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "usr=app | 1 | a field: user",
                "user=app and usr=x | 14 | a field: user",
                "user | 5 | =, !=",
                "user= | 6 | a value",
                "user='app | 10 | the closing '",
                "query_time>fast | 12 | a time such as",
                "query_time~1 | 12 | =, !=, <, <=, > or >=",
                "rows_sent>1ms | 11 | a number",
                "user>1x | 6 | a number after >",
                "db~[ | 4 | a regular expression (unclosed character class)",
                "(user=app | 10 | and, or, or )",
                "user=app) | 9 | and, or, or the end",
                "user=app user=b | 10 | and, or, or the end",
                "not | 4 | a field",
                "header.=1 | 1 | a field",
                "tag.=1 | 1 | a field",
            })
    void aWrongExpressionIsRefusedWithItsPlace(String expression, int character, String expected) {
        assertThatThrownBy(() -> StatementFilter.of(expression))
                .isInstanceOf(FilterSyntaxException.class)
                .hasMessageContaining("at character " + character + " expected " + expected)
                .hasMessageEndingWith(expression + "\n  " + " ".repeat(character - 1) + "^");
    }

    @Test
    void nothingIsNoFilter() {
        assertThatThrownBy(() -> StatementFilter.of(" ")).hasMessageContaining("found the end");
        assertThatThrownBy(() -> StatementFilter.of("(".repeat(200_000))).hasMessageContaining("at most 100 nested");
    }
}

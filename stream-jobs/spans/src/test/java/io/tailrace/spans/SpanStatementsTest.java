package io.tailrace.spans;

import static io.tailrace.spans.Messages.attribute;
import static io.tailrace.spans.Messages.call;
import static io.tailrace.spans.Messages.only;
import static io.tailrace.spans.Messages.span;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.tailrace.event.TraceSpan;
import io.tailrace.fingerprint.Fingerprinter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpanStatementsTest {

    private static final String CARD = "4111111111111111";
    private static final String PASSWORD = "hunter2";
    private static final String STATEMENT =
            "SELECT * FROM orders WHERE card = '" + CARD + "' AND pass = \"" + PASSWORD + "\"";

    private static long queryId(String statement) {
        return new Fingerprinter()
                .statement(statement.getBytes(UTF_8), 0, statement.getBytes(UTF_8).length)
                .queryId();
    }

    @ParameterizedTest
    @CsvSource({
        "db.system.name, db.query.text, db.namespace",
        "db.system, db.statement, db.name",
        "db.system, db.query.text, db.name"
    })
    void oldAndStableConventions(String system, String statement, String database) {
        TraceSpan span = only(span().addAttributes(attribute(system, "mysql"))
                .addAttributes(attribute(statement, STATEMENT))
                .addAttributes(attribute(database, "shop")));

        assertThat(span.getQueryId()).isEqualTo(queryId(STATEMENT));
        assertThat(span.getRuleSet()).isEqualTo(Fingerprinter.RULE_SET);
        assertThat(span.getFingerprint()).isEqualTo("select * from orders where card = ? and pass = ?");
        assertThat(span.getSpanAttributes()).containsEntry(statement, span.getFingerprint());
        assertThat(span.getDatabase()).isEqualTo("shop");
    }

    /** Each of these would overflow the stack of a recursive loop. */
    @ParameterizedTest
    @ValueSource(strings = {"(", "/**/", "0 ", "1-"})
    void longTextsOfOneKindAreReadToTheirEnd(String piece) {
        String text = piece.repeat(60_000 / piece.length()) + " 1 'x'";
        TraceSpan span = only(span().addAttributes(attribute("user_agent.original", text))
                .addAttributes(attribute("exception.message", text)));

        assertThat(span.getSpanAttributes().get("user_agent.original")).startsWith(piece.strip());
        assertThat(span.getSpanAttributes()).containsKey("exception.message");
    }

    @Test
    void textsInListsAreMaskedAsOthersAre() {
        String lines = STATEMENT.replace(" WHERE", "\nWHERE");
        AnyValue list = AnyValue.newBuilder()
                .setArrayValue(ArrayValue.newBuilder()
                        .addValues(AnyValue.newBuilder().setStringValue(lines))
                        .addValues(
                                AnyValue.newBuilder().setStringValue("Duplicate entry '" + CARD + "' for key 'card'")))
                .build();
        KeyValue batch = KeyValue.newBuilder().setKey("batch").setValue(list).build();
        KeyValue args =
                KeyValue.newBuilder().setKey("exception.args").setValue(list).build();
        KeyValue number = KeyValue.newBuilder()
                .setKey("value")
                .setValue(AnyValue.newBuilder().setIntValue(Long.parseLong(CARD)))
                .build();
        TraceSpan span = only(call("mysql", lines)
                .addAttributes(batch)
                .addEvents(
                        Span.Event.newBuilder().setName("x").addAttributes(args).addAttributes(number)));

        assertThat(span.getSpanAttributes().get("batch"))
                .doesNotContain(PASSWORD)
                .contains("card = ?");
        assertThat(span.getEventsAttributes().toString()).doesNotContain(CARD).doesNotContain(PASSWORD);
    }

    @Test
    void theStableConventionsWin() {
        TraceSpan span = only(call("mariadb", "select 1 from a")
                .addAttributes(attribute("db.system", "postgresql"))
                .addAttributes(attribute("db.statement", "select 1 from b"))
                .addAttributes(attribute("db.namespace", "new"))
                .addAttributes(attribute("db.name", "old")));

        assertThat(span.getFingerprint()).isEqualTo("select ? from a");
        assertThat(span.getSpanAttributes())
                .containsEntry("db.statement", "select ? from a")
                .containsEntry("db.query.text", "select ? from a");
        assertThat(span.getDatabase()).isEqualTo("new");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select a from t where b = ? and c in (?, ?)",
                "select a from t where b = %s and c in (%s, %s)",
                "select a from t where b = %(b)s and c in (%(c1)s, %(c2)s)",
                "select a from t where b = :b and c in (:c1, :c2)"
            })
    void placeholdersOfDriversAreThoseOfTheServer(String statement) {
        assertThat(only(call("mysql", statement)).getQueryId())
                .isEqualTo(queryId("SELECT a FROM t WHERE b = 7 AND c IN ('x', 'y')"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "set @a := 1",
                "select a%s from t",
                "select '12:30:00', ':x', '%s'",
                "select 5 % second from t",
                "select 1 % (select 2)",
                "x: loop end loop x"
            })
    void otherTextIsNotAPlaceholder(String statement) {
        assertThat(only(call("mysql", statement)).getQueryId()).isEqualTo(queryId(statement));
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "oracle.db", "other_sql"})
    void onlyTheFamilyOfMySqlHasQueryIds(String system) {
        TraceSpan span = only(call(system, STATEMENT));

        assertThat(span.getQueryId()).isZero();
        assertThat(span.getRuleSet()).isEmpty();
        assertThat(span.getSpanAttributes())
                .containsEntry("db.query.text", "select * from orders where card = ? and pass = ?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "mongodb", "elasticsearch", "", "something"})
    void statementsInOtherLanguagesAreNotStored(String system) {
        assertThat(only(call(system, "SET pass " + PASSWORD)).getSpanAttributes())
                .containsEntry("db.query.text", "?");
    }

    @Test
    void backslashesOfOtherServersMayDeceiveTheLexer() {
        assertThat(only(call("postgresql", "select 'a\\', 'hunter2', 'b'")).getFingerprint())
                .isEqualTo("?");
    }

    @Test
    void aStatementThatWasCutHasNoClass() {
        TraceSpan span = only(call("mysql", "select a from t where b = 'hunt"));

        assertThat(span.getQueryId()).isZero();
        assertThat(span.getFingerprint()).isEqualTo("select a from t where b = ?");
    }

    /** Positions in which a span may quote its statement, or a server's message quotes a value. */
    @Test
    void noLiteralOfAStatementIsLeft() {
        String error =
                "(pymysql.err.ProgrammingError) (1064, \"You have an error in your SQL syntax; check the manual that"
                        + " corresponds to your MySQL server version for the right syntax to use near '" + CARD
                        + "' at line 1\")\n"
                        + "[SQL: " + STATEMENT + "]\n[parameters: ('" + CARD + "', '" + PASSWORD + "')]";
        String duplicate = "Duplicate entry '" + CARD + "-" + PASSWORD + "' for key 'orders.card'";
        Span.Builder span = call("mysql", STATEMENT)
                .setName(STATEMENT)
                .addAttributes(attribute("db.query.parameter.0", CARD))
                .addAttributes(attribute("db.query.parameter.pass", PASSWORD))
                .addAttributes(attribute("db.statement.parameters", "('" + CARD + "',)"))
                .addAttributes(attribute("db.query.summary", STATEMENT))
                .addAttributes(attribute("db.connection_string", "mysql://root:" + PASSWORD + "@db/shop"))
                .addAttributes(attribute("my.sql", "about to run: " + STATEMENT))
                .addAttributes(attribute("sql.query", "update t set pass = '" + PASSWORD + "'"))
                .addAttributes(attribute("error.message", duplicate))
                .setStatus(Status.newBuilder()
                        .setCode(Status.StatusCode.STATUS_CODE_ERROR)
                        .setMessage(error))
                .addEvents(Span.Event.newBuilder()
                        .setName("exception")
                        .addAttributes(attribute("exception.type", "pymysql.err.ProgrammingError"))
                        .addAttributes(attribute("exception.message", error))
                        .addAttributes(attribute(
                                "exception.stacktrace",
                                "Traceback (most recent call last):\n  File \"/app/shop.py\", line 12, in find\n"
                                        + "    cursor.execute(\"" + STATEMENT.replace('"', '\'') + "\")\n" + error)))
                .addEvents(Span.Event.newBuilder().setName(duplicate).addAttributes(attribute("log", STATEMENT)))
                .addLinks(Span.Link.newBuilder().addAttributes(attribute("why", STATEMENT)));

        assertThat(only(span).toString())
                .doesNotContain(CARD)
                .doesNotContain(PASSWORD)
                .contains("pymysql.err.ProgrammingError");
    }

    /** The request's span contains the error of the call. */
    @Test
    void noLiteralIsInEnclosingSpans() {
        String error = "[SQL: " + STATEMENT + "]";
        Span.Builder span = span().setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .setStatus(Status.newBuilder().setMessage(error))
                .addEvents(Span.Event.newBuilder()
                        .setName("exception")
                        .addAttributes(attribute("exception.message", error)));

        assertThat(only(span).toString()).doesNotContain(CARD).doesNotContain(PASSWORD);
    }

    @Test
    void namesThatResembleStatementsAreKept() {
        TraceSpan span = only(span().setName("SELECT shop.orders")
                .addAttributes(attribute("db.operation.name", "SELECT"))
                .addAttributes(attribute("db.collection.name", "orders_2026"))
                .addAttributes(attribute("server.address", "db-1.example.org"))
                .addAttributes(attribute("url.path", "/orders/17")));

        assertThat(span.getSpanName()).isEqualTo("SELECT shop.orders");
        assertThat(span.getSpanAttributes())
                .isEqualTo(Map.of(
                        "db.operation.name",
                        "SELECT",
                        "db.collection.name",
                        "orders_2026",
                        "server.address",
                        "db-1.example.org",
                        "url.path",
                        "/orders/17"));
    }

    @Test
    void theEndpointIsTheRouteOfARequest() {
        Span.Builder server = span().setKind(Span.SpanKind.SPAN_KIND_SERVER).setName("GET");

        assertThat(only(server).getEndpoint()).isEqualTo("GET");
        assertThat(only(server.addAttributes(attribute("http.request.method", "GET"))
                                .addAttributes(attribute("http.route", "/orders/{id}")))
                        .getEndpoint())
                .isEqualTo("GET /orders/{id}");
        assertThat(only(span().setKind(Span.SpanKind.SPAN_KIND_SERVER)
                                .addAttributes(attribute("rpc.service", "shop.Orders"))
                                .addAttributes(attribute("rpc.method", "Find")))
                        .getEndpoint())
                .isEqualTo("shop.Orders/Find");
    }

    @Test
    void theEndpointOfAStatementIsInItsComment() {
        assertThat(only(call("mysql", "select 1 /*controller='orders',action='show'*/"))
                        .getEndpoint())
                .isEqualTo("orders#show");
        assertThat(only(call("mysql", "select 1 /*route='%2Forders%2F%7Bid%7D'*/"))
                        .getEndpoint())
                .isEqualTo("/orders/{id}");
        assertThat(only(call("mysql", "select 1")).getEndpoint()).isEmpty();
    }
}

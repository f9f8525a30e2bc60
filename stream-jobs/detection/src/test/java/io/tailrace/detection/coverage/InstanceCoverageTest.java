package io.tailrace.detection.coverage;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class InstanceCoverageTest {

    private static final int RULES = 300;
    private static final LogSource AUDIT = new LogSource("database", "mysql", "audit");
    private static final LogSource SLOW = new LogSource("database", "mysql", "slowlog");
    private static final String ID = "5f4f6d3a-0000-4000-8000-%012d";

    /** The checkpoint of an engine contains this for each of thousands of servers. */
    @Test
    void stateOfAServerTakesFewBytesForEachRuleAndLog() throws Exception {
        InstanceCoverage coverage = new InstanceCoverage(1);
        see(coverage);
        int without = written(coverage).length;
        emitted(coverage, rules(RULES), 1);
        int results = 3 * RULES;
        int ids = 17 * RULES;
        assertThat(written(coverage).length - without).isLessThan(8 * results + ids + 200);
    }

    /** A push of rules asks for the results of all servers in one call of the operator. */
    @Test
    void rulesAreEvaluatedOnceForServersWithTheSameContents() {
        RuleCoverageAnswers answers = new RuleCoverageAnswers(rules(2), false);
        for (int server = 0; server < 1_000; server++) {
            InstanceCoverage coverage = new InstanceCoverage(1);
            see(coverage);
            List<InstanceCoverage.ObservedLog> found = new ArrayList<>();
            coverage.changedResults(answers, false, 1, found::add);
            assertThat(found).hasSize(6);
        }
        assertThat(answers.evaluations()).isEqualTo(3);
    }

    @Test
    void anotherClusterChangesAllResults() throws Exception {
        InstanceCoverage coverage = new InstanceCoverage(1);
        see(coverage);
        emitted(coverage, rules(2), 10);
        InstanceCoverage read = read(written(coverage));
        assertThat(emitted(read, rules(2), 20)).isEmpty();
        read.add("other", AUDIT, new ObservedFields());
        assertThat(emitted(read, rules(2), 30)).hasSize(6);
        assertThat(emitted(read, rules(2), 40)).isEmpty();
    }

    @Test
    void stateIsReadAsItWasWritten() throws Exception {
        InstanceCoverage coverage = new InstanceCoverage(1);
        see(coverage);
        emitted(coverage, rules(3), 10);
        emitted(coverage, rules(4), 20); // one has another time
        InstanceCoverage read = read(written(coverage));
        assertThat(emitted(read, rules(4), 30)).isEmpty();
        List<InstanceCoverage.ObservedLog> gone = emitted(read, rules(2), 40);
        assertThat(gone).hasSize(6).allMatch(result -> result.answer() == null);
        List<InstanceCoverage.ObservedLog> all = new ArrayList<>();
        read.changedResults(new RuleCoverageAnswers(rules(2), false), true, 50, all::add);
        assertThat(all).hasSize(6).allMatch(result -> result.changedAt() == 10);
    }

    @Test
    void stateOfTheFirstLayoutIsRead() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(1);
        text("shop", out);
        out.writeLong(1);
        out.writeLong(0);
        out.writeLong(5);
        out.writeInt(0);
        out.writeInt(0);
        out.writeInt(1);
        text("audit", out);
        out.writeInt(2);
        for (String key : List.of(ID.formatted(1), "a title")) {
            text(key, out);
            out.writeLong(7);
            out.writeLong(5);
        }
        List<InstanceCoverage.ObservedLog> gone = emitted(read(bytes.toByteArray()), rules(1), 10);
        assertThat(gone)
                .extracting(InstanceCoverage.ObservedLog::ruleKey)
                .containsExactlyInAnyOrder(ID.formatted(1), "a title");
    }

    private static void text(String text, DataOutputStream out) throws IOException {
        out.writeInt(text.length());
        out.writeBytes(text);
    }

    private static void see(InstanceCoverage coverage) {
        coverage.add("shop", AUDIT, new ObservedFields());
        coverage.add("shop", SLOW, new ObservedFields());
    }

    private static List<InstanceCoverage.ObservedLog> emitted(InstanceCoverage coverage, RuleSet rules, long micros) {
        List<InstanceCoverage.ObservedLog> found = new ArrayList<>();
        coverage.changedResults(new RuleCoverageAnswers(rules, false), false, micros, found::add);
        return found;
    }

    private static RuleSet rules(int count) {
        String text = IntStream.range(0, count)
                .mapToObj(number ->
                        """
                        title: Rule %d
                        id: %s
                        logsource: {category: database}
                        detection: {s: {user: 'u%d'}, condition: s}
                        """
                                .formatted(number, ID.formatted(number), number))
                .collect(Collectors.joining("---\n"));
        return new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()))
                .text("rules.yml", text)
                .ruleSet();
    }

    private static byte[] written(InstanceCoverage coverage) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        coverage.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private static InstanceCoverage read(byte[] bytes) throws IOException {
        return InstanceCoverage.read(new DataInputStream(new ByteArrayInputStream(bytes)));
    }
}

package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Percona Toolkit's own samples, against what its parser is expected to find. Left out are its samples whose entries
 * have no time at all, which servers do not write.
 */
class PerconaToolkitTest {

    private static final String SAMPLES = "third-party/slow/percona-toolkit/samples/";
    private static final String EXPECTED = "third-party/slow/percona-toolkit/expected";

    private final LogFormat format = new KnownFormats().named("mysql-slow").orElseThrow();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "microslow001.txt", "mysql5.7.log", "slow001.txt", "slow002.txt", "slow003.txt", "slow004.txt",
                        "slow005.txt",
                "slow006.txt", "slow007.txt", "slow010.txt", "slow014.txt", "slow025.txt", "slow031.txt", "slow060.txt",
            })
    void samplesAreReadAsTheirOwnersReadThem(String name) throws IOException {
        FramedLog log = FramedLog.of(format, Corpora.read(SAMPLES + name));
        List<Parsed.Outcome> outcomes = Parsed.of(format, log);
        JsonNode expected = expected(name);
        assertThat(outcomes).hasSize(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            compare(
                    expected.get(i),
                    (QueryEvent) outcomes.get(i).event(),
                    outcomes.get(i).statement());
        }
    }

    private static JsonNode expected(String name) throws IOException {
        Path file = Corpora.files(EXPECTED, ".json").stream()
                .filter(path -> path.getFileName().toString().startsWith(name))
                .findFirst()
                .orElseThrow();
        return new ObjectMapper().readTree(file.toFile()).get("result");
    }

    private static void compare(JsonNode expected, QueryEvent event, String statement) {
        assertThat(event.getQueryTime()).isEqualTo(expected.path("Query_time").asDouble());
        assertThat(event.getLockTime()).isEqualTo(expected.path("Lock_time").asDouble());
        assertThat(event.getRowsSent()).isEqualTo(expected.path("Rows_sent").asLong());
        assertThat(event.getRowsExamined())
                .isEqualTo(expected.path("Rows_examined").asLong());
        assertThat(event.getConnectionId()).isEqualTo(expected.path("Thread_id").asLong());
        assertThat(statement.strip()).isEqualTo(expected.path("arg").asText().strip());
        // Its parser keeps the brackets of a replication thread's name, which are the header's.
        assertThat(event.getUser()).isEqualTo(expected.path("user").asText().replaceAll("^\\[|]$", ""));
    }
}

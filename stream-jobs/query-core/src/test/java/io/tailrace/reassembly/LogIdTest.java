package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LogIdTest {

    @ParameterizedTest
    @MethodSource("canonicalPaths")
    void canonicalPathDropsWhatRotationAppends(Map<String, String> path) {
        assertThat(LogId.canonicalPath(path.get("path"))).isEqualTo(path.get("canonical"));
    }

    static List<Map<String, Object>> canonicalPaths() throws IOException {
        return Contract.cases("canonical_path");
    }

    @Test
    void keyHoldsAllParts() {
        LogId id = LogId.of("db1", "slowlog", "/l/slow.log.1");
        assertThat(LogId.fromKey(id.toKey())).isEqualTo(id);
        assertThat(id.toKey()).isEqualTo("db1\u001fslowlog\u001f/l/slow.log");
        assertThatThrownBy(() -> LogId.fromKey("db1")).isInstanceOf(IllegalArgumentException.class);
    }
}

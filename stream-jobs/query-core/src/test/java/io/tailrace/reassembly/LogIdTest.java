package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogIdTest {

    @ParameterizedTest
    @CsvSource({
        "/l/slow.log, /l/slow.log",
        "/l/slow.log.1, /l/slow.log",
        "/l/slow.log.123456, /l/slow.log",
        "/l/slow.log.1234567, /l/slow.log.1234567",
        "/l/slow.log.2.gz, /l/slow.log",
        "/l/slow.log.old, /l/slow.log",
        "/l/slow.log-20261121, /l/slow.log",
        "/l/slow.log-20261121-2, /l/slow.log",
        "/l/slow.log-20261121093000, /l/slow.log",
        "/l/slow.log-20261121-1795000000.gz, /l/slow.log",
        "/l/slow-20261121.log, /l/slow-20261121.log",
        "/l/server-12345678, /l/server-12345678",
        "/l/db-1, /l/db-1",
        "/l/.1, /l/.1",
        "/l/20261121, /l/20261121",
        "1, 1",
        ".gz, .gz"
    })
    void canonicalPathDropsWhatRotationAppends(String path, String canonical) {
        assertThat(LogId.canonicalPath(path)).isEqualTo(canonical);
    }

    @Test
    void keyHoldsAllParts() {
        LogId id = LogId.of("db1", "slowlog", "/l/slow.log.1");
        assertThat(LogId.fromKey(id.toKey())).isEqualTo(id);
        assertThat(id.toKey()).isEqualTo("db1\u001fslowlog\u001f/l/slow.log");
        assertThatThrownBy(() -> LogId.fromKey("db1")).isInstanceOf(IllegalArgumentException.class);
    }
}

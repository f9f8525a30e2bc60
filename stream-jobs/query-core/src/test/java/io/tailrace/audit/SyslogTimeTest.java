package io.tailrace.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.mariadb.MariaDbTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A system log's time without a year is the latest one that is not in the future. */
class SyslogTimeTest {

    @ParameterizedTest
    @CsvSource({
        "2026-06-01T00:00:00Z, Jan  2 03:04:05, UTC, 2026-01-02T03:04:05Z",
        "2026-01-02T03:00:00Z, Jan  2 03:04:05, UTC, 2026-01-02T03:04:05Z",
        "2026-01-01T00:00:10Z, Dec 31 23:59:59, UTC, 2025-12-31T23:59:59Z",
        "2025-12-31T23:59:59Z, Jan  1 00:30:00, UTC, 2026-01-01T00:30:00Z",
        "2026-06-01T00:00:00Z, Jul 14 12:00:00, UTC, 2025-07-14T12:00:00Z",
        "2026-06-01T00:00:00Z, Feb 29 12:00:00, UTC, 2024-02-29T12:00:00Z",
        "2026-06-01T00:00:00Z, Jan  2 03:04:05, Europe/Berlin, 2026-01-02T02:04:05Z",
        "2026-06-01T00:00:00Z, <13>Jan  2 03:04:05, UTC, 2026-01-02T03:04:05Z",
    })
    void theYearIsInferred(Instant now, String written, String zone, Instant expected) {
        MariaDbTime.Syslog time = new MariaDbTime.Syslog(() -> now);
        byte[] line =
                (written + " db1 mysql-server_auditing: db1,a,h,1,2,READ,d,t,").getBytes(StandardCharsets.US_ASCII);
        int record = time.read(line, 0, line.length, zone);
        assertThat(new String(line, record, line.length - record, StandardCharsets.US_ASCII))
                .startsWith("db1,a,h");
        assertThat(time.isYearInferred()).isTrue();
        assertThat(Instant.ofEpochSecond(time.micros() / 1_000_000)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "Foo  2 03:04:05 db1 t: x",
        "Jan 2 03:04:05 db1 t: x",
        "Jan  2 0x:04:05 db1 t: x",
        "Feb 30 03:04:05 db1 t: x",
        "2026-01-02 03:04:05 db1 t: x",
        "Jan  2 03:04:05",
        "Jan  2 03:04:05 one two three four: x",
        "'<13>'",
        "1: x",
    })
    void otherLinesAreRejected(String line) {
        byte[] bytes = line.getBytes(StandardCharsets.US_ASCII);
        MariaDbTime.Syslog time = new MariaDbTime.Syslog(() -> Instant.parse("2026-06-01T00:00:00Z"));
        assertThat(time.read(bytes, 0, bytes.length, "UTC")).isNegative();
    }
}

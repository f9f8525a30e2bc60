package io.tailrace.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CivilTimeTest {

    private static long iso(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return CivilTime.iso(bytes, 0, bytes.length);
    }

    @ParameterizedTest
    @CsvSource({
        "2026-11-21T02:49:03.496201Z, 2026-11-21T02:49:03.496201Z",
        "2026-11-21T02:49:03Z, 2026-11-21T02:49:03Z",
        "2026-11-21T02:49:03.5-00:00, 2026-11-21T02:49:03.5Z",
        "2026-11-21T02:49:03.496201+05:30, 2026-11-20T21:19:03.496201Z",
        "2026-11-21T02:49:03.496201-08:00, 2026-11-21T10:49:03.496201Z",
        "2024-02-29T23:59:59.999999Z, 2024-02-29T23:59:59.999999Z",
    })
    void isoTimesAreRead(String text, Instant expected) {
        long micros = iso(text);
        assertThat(Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "2026",
                "2026-11-21T02:49:03",
                "2026-13-21T02:49:03Z",
                "2025-02-29T02:49:03Z",
                "2026-11-21T24:49:03Z",
                "2026-11-21T02:49:03X",
                "2026-11-21T02:49:03+5:30",
                "2026/11/21T02:49:03Z",
                "2026-11-21T0x:49:03Z",
            })
    void invalidTimesAreNone(String text) {
        assertThat(iso(text)).isEqualTo(CivilTime.NONE);
    }

    @Test
    void everyDayHasItsNumber() {
        Random random = new Random(1);
        for (int i = 0; i < 10_000; i++) {
            LocalDateTime time = LocalDateTime.ofEpochSecond(random.nextInt(), 0, ZoneOffset.UTC);
            assertThat(CivilTime.epochSecond(
                            time.getYear(),
                            time.getMonthValue(),
                            time.getDayOfMonth(),
                            time.getHour(),
                            time.getMinute(),
                            time.getSecond()))
                    .isEqualTo(time.toEpochSecond(ZoneOffset.UTC));
        }
    }

    @Test
    void localTimesFollowTheirZone() {
        LocalClock clock = new LocalClock();
        long summer = CivilTime.epochSecond(2026, 7, 1, 12, 0, 0);
        assertThat(clock.utc("Europe/Berlin", summer, 0)).isEqualTo(summer - 7_200);
        assertThat(clock.utc("UTC", summer, 0)).isEqualTo(summer);
        assertThat(clock.utc("Mars/Base", summer, 0)).isEqualTo(summer);
    }

    @Test
    void theHourThatIsRepeatedIsDecidedByTheHint() {
        LocalClock clock = new LocalClock();
        long local = CivilTime.epochSecond(2026, 10, 25, 2, 30, 0);
        assertThat(clock.utc("Europe/Berlin", local, 0)).isEqualTo(local - 7_200);
        assertThat(clock.utc("Europe/Berlin", local, local - 3_601)).isEqualTo(local - 3_600);
        assertThat(clock.utc("Europe/Berlin", local, local - 7_199)).isEqualTo(local - 7_200);
    }

    @Test
    void theHourThatIsSkippedIsReadOn() {
        long local = CivilTime.epochSecond(2026, 3, 29, 2, 30, 0);
        assertThat(new LocalClock().utc("Europe/Berlin", local, 0)).isEqualTo(local - 3_600);
    }
}

package io.tailrace.detection.correlation;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.PropertyTestBudget;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares windows with a list that inspects each match: late, equal and restored times, and changed timespans. */
class GroupWindowExpiryTest {

    private static final int LIMIT = 12;
    private static final int STEPS = 150;
    private static final long FIRED_RETENTION = 12;

    private final List<RuleMatch> expected = new ArrayList<>();
    private final List<Long> fired = new ArrayList<>();
    private GroupWindow window = new GroupWindow();
    private long watermark;
    private long dropped;

    @Test
    void windowsEqualAListOfAllMatches() throws IOException {
        for (int seed = 0; seed < PropertyTestBudget.of(200, 5_000); seed++) {
            Random random = new Random(seed);
            expected.clear();
            fired.clear();
            window = new GroupWindow();
            watermark = random.nextInt(3) == 0 ? Long.MIN_VALUE / 2 : 0;
            for (int step = 0; step < STEPS; step++) {
                change(random);
                assertThat(window.occurrences())
                        .as("seed %d, step %d", seed, step)
                        .isEqualTo(expected);
                assertThat(window.fired()).isEqualTo(fired);
            }
            assertThat(written(window)).isEqualTo(expectedState());
        }
        assertThat(dropped).as("expired matches").isPositive();
    }

    private void change(Random random) throws IOException {
        switch (random.nextInt(12)) {
            case 0, 1 -> forget(Math.max(watermark, 0) + random.nextInt(8));
            case 2 -> forget(window.unchangedUntil(FIRED_RETENTION));
            case 3 -> window = GroupWindow.read(new DataInputStream(new ByteArrayInputStream(written(window))));
            case 4 -> fire(Math.max(watermark, 0) + random.nextInt(20) - 10);
            case 5 -> mergeOldest();
            case 6 -> forget(Math.max(watermark, 0) + random.nextInt(60));
            default -> add(random);
        }
    }

    /** Most matches are near the watermark, some are old, and a changed rule keeps them for another time. */
    private void add(Random random) {
        long now = Math.max(watermark, 0);
        long micros = now + (random.nextInt(4) == 0 ? -random.nextInt(50) : random.nextInt(8) - 2);
        long retention = random.nextInt(6) == 0 ? random.nextInt(30) : 15;
        long expires = Math.max(micros, watermark) + retention;
        String value = "v" + random.nextInt(3);
        String action = "e" + random.nextInt(3);
        RuleMatch match = new RuleMatch(micros, random.nextInt(2), action, action, RuleIds.ANY, value, expires);
        int place = window.add(match, LIMIT);
        if (expected.stream().anyMatch(other -> RuleMatch.BY_TIME.compare(other, match) == 0)) {
            assertThat(place).isNegative();
            return;
        }
        if (expected.size() >= LIMIT) {
            expected.remove(expected.stream().filter(match::isLike).findFirst().orElseGet(() -> expected.get(0)));
        }
        expected.add(match);
        expected.sort(RuleMatch.BY_TIME);
        assertThat(place).isEqualTo(expected.indexOf(match));
    }

    private void fire(long micros) {
        window.fired().add(micros);
        fired.add(micros);
    }

    private void mergeOldest() {
        int count = expected.size() / 2;
        if (count > 1) {
            List<RuleMatch> merged = List.of(expected.get(count - 1));
            window.replaceOldest(count, merged);
            expected.subList(0, count - 1).clear();
        }
    }

    private void forget(long micros) {
        long before = expected.size() + fired.size();
        boolean unchanged = micros <= window.unchangedUntil(FIRED_RETENTION);
        watermark = Math.max(watermark, Math.min(micros, 1_000_000));
        window.forget(watermark, watermark - FIRED_RETENTION);
        expected.removeIf(match -> match.expires() < watermark);
        fired.removeIf(time -> time < watermark - FIRED_RETENTION);
        long fewer = before - expected.size() - fired.size();
        if (unchanged) {
            assertThat(fewer).as("what was announced to be unchanged").isZero();
        }
        dropped += fewer;
    }

    private static byte[] written(GroupWindow window) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        window.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    /** The layout of version 2, which savepoints of earlier releases have. */
    private byte[] expectedState() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(2);
        out.writeLong(Long.MIN_VALUE);
        out.writeInt(fired.size());
        for (long micros : fired) {
            out.writeLong(micros);
        }
        out.writeInt(expected.size());
        for (RuleMatch match : expected) {
            match.write(out);
        }
        return bytes.toByteArray();
    }
}

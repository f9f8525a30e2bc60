package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** State contains hashes of texts, so a hash must not depend on the texts before it. */
class ValueHashTest {

    @Test
    void theHashIsThatOfSha256() {
        assertThat(ExpiringValueSet.hash("abc")).isEqualTo(0xba7816bf8f01cfeaL);
    }

    @Test
    void textsWithTheSamePlaceHaveTheirOwnHashes() throws NoSuchAlgorithmException {
        Random random = new Random(1);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < 2_000; i++) {
            String end = random.nextInt(5) == 0 ? "x".repeat(300) : "" + random.nextInt(3);
            String text = (random.nextBoolean() ? "Aa" : "BB").repeat(1 + random.nextInt(8)) + end;
            byte[] all = digest.digest(text.getBytes(StandardCharsets.UTF_8));
            assertThat(ExpiringValueSet.hash(text))
                    .as(text)
                    .isEqualTo(new BigInteger(all).shiftRight(192).longValue());
        }
    }
}

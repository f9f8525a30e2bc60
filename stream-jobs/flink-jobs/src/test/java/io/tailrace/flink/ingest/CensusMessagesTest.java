package io.tailrace.flink.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class CensusMessagesTest {

    @Test
    void onlyACensusIsPeriodic() {
        CensusMessages censuses = new CensusMessages();
        byte[] line = "# Query_time: 1 inode".getBytes(StandardCharsets.US_ASCII);
        assertThat(censuses.contain(message(MessagePack.map(Map.of("inode", 11L)))))
                .isTrue();
        assertThat(censuses.contain(message(MessagePack.line("/slow.log", 0, line))))
                .isFalse();
        assertThat(censuses.contain(message(new byte[0]))).isFalse();
    }

    private static KafkaMessage message(byte[] value) {
        return new KafkaMessage("tailrace.slowlog.lines", 0, 0, new byte[0], value);
    }
}

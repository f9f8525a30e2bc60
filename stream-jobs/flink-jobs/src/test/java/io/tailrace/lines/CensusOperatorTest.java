package io.tailrace.lines;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.reassembly.CensusRecord;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;

class CensusOperatorTest {

    private static final OutputTag<DeadLetter> DEAD =
            new OutputTag<>("dead-letters", new AvroTypeInfo<>(DeadLetter.class));

    @Test
    void readsACensusAndSkipsWhatItDoesNotKnow() throws Exception {
        try (var operator = new OneInputStreamOperatorTestHarness<>(new CensusOperator(DEAD, "test"), 1, 1, 0)) {
            operator.open();
            Map<String, Object> census = census();
            operator.processElement(message(census), 0);
            census.remove("size");
            operator.processElement(message(census), 0);
            assertThat(operator.extractOutputValues())
                    .containsExactly(new CensusRecord(
                            "db-1\u001fslowlog\u001f/slow.log",
                            "shop",
                            "db-1",
                            "slowlog",
                            "/slow.log.1",
                            11,
                            22,
                            33,
                            "aa",
                            1_700_000_000_250_000L));
            assertThat(operator.getSideOutput(DEAD)).hasSize(1);
        }
    }

    private static TopicMessage message(Map<String, Object> census) {
        return new TopicMessage("tailrace.files", 0, 0, MessagePack.map(census));
    }

    private static Map<String, Object> census() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("at", 1_700_000_000.25);
        map.put("cluster", "shop");
        map.put("instance", "db-1");
        map.put("source", "slowlog");
        map.put("path", "/slow.log.1");
        map.put("inode", 11L);
        map.put("size", 22L);
        map.put("head_length", 33L);
        map.put("head_hash", "aa");
        map.put("mtime", 1_700_000_000.0);
        map.put("new", true);
        return map;
    }
}

package io.tailrace.flink.detection.correlation;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.Evidence;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EvidenceSerializerTest {

    private static final String ID = "4f1b2c3d-0000-4000-8000-000000000001";

    /** One half of a surrogate pair remains if a text is truncated within it. */
    @ParameterizedTest
    @ValueSource(strings = {"", "app", "Ωmega", "cut \ud83d", "a long name "})
    void everyComponentArrives(String text) throws IOException {
        String longText = text.repeat(200);
        Evidence observation = new Evidence(
                7,
                1,
                "consumer",
                List.of("shop", text, ""),
                "",
                ID,
                ID,
                -1,
                Long.MAX_VALUE,
                List.of(longText, text),
                1e15,
                longText,
                true,
                Map.of("user", text, "program", longText, "another name", "x"));
        Evidence match = new Evidence(
                0, 5, text, List.of(), "rule", ID, "another action", 3, 0, List.of(), 0, "", false, Map.of());

        assertThat(copied(observation)).isEqualTo(observation);
        assertThat(copied(match)).isEqualTo(match);
    }

    private static Evidence copied(Evidence evidence) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(16);
        EvidenceSerializer.INSTANCE.serialize(evidence, out);
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        Evidence read = EvidenceSerializer.INSTANCE.deserialize(in);
        assertThat(in.available()).isZero();
        return read;
    }
}

package io.tailrace.flink.detection.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.RuleRecord;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class RuleRecordSerializerTest {

    private static final TypeSerializer<RuleRecord> FLINKS =
            TypeInformation.of(RuleRecord.class).createSerializer(new ExecutionConfig().getSerializerConfig());
    private static final RuleRecord PUSH = new RuleRecord(7, RuleRecord.BUNDLE, "{\"a\": \"ä\u0000\uD83D\uDE00\"}");
    private static final RuleRecord SAME_TEXT = new RuleRecord(8, RuleRecord.BUNDLE, PUSH.json());

    private final TypeSerializer<RuleRecord> ours = new RuleRecordSerializer();

    @Test
    void bytesAreThoseOfFlinksSerializer() throws Exception {
        for (RuleRecord rules : List.of(PUSH, PUSH, SAME_TEXT, RuleRecord.NO_RULES, PUSH)) {
            byte[] bytes = bytes(ours.duplicate(), rules);
            assertThat(bytes).isEqualTo(bytes(FLINKS, rules));
            assertThat(ours.deserialize(new DataInputDeserializer(bytes))).isEqualTo(rules);
        }
    }

    /** In both directions: an earlier version reads the state, too. */
    @Test
    void stateOfFlinksSerializerIsCompatibleAsItIs() {
        var old = FLINKS.snapshotConfiguration();
        var current = ours.snapshotConfiguration();
        assertThat(current.resolveSchemaCompatibility(old).isCompatibleAsIs()).isTrue();
        assertThat(old.resolveSchemaCompatibility(current).isCompatibleAsIs()).isTrue();
        assertThat(current.restoreSerializer()).isEqualTo(FLINKS);
    }

    private static byte[] bytes(TypeSerializer<RuleRecord> serializer, RuleRecord rules) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(16);
        serializer.serialize(rules, out);
        return out.getCopyOfBuffer();
    }
}

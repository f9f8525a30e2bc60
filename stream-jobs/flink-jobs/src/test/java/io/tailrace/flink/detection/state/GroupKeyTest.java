package io.tailrace.flink.detection.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class GroupKeyTest {

    @Test
    void groupsCanBeReadAgainWhateverTheyHold() {
        for (List<String> group : List.of(
                List.<String>of(),
                List.of(""),
                List.of("root", ""),
                List.of("a\u001fb", "\u001e", "\u001e\u001f_^"),
                List.of("löwe", "10.0.0.9"))) {
            String key = GroupKey.of("rule", group);
            assertThat(GroupKey.consumer(key)).isEqualTo("rule");
            assertThat(GroupKey.group(key)).isEqualTo(group);
        }
    }
}

package io.tailrace.savepoints;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.OperatorBackendSerializationProxy;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The savepoints of each release name only classes that still exist. Costs little; {@link SavepointRestoreIT} runs the jobs. */
class SavepointStateTest {

    private static final ClassLoader CLASSES = SavepointStateTest.class.getClassLoader();

    @TempDir
    Path directory;

    static Stream<ReleaseState> releases() throws IOException {
        return ReleaseState.all().stream();
    }

    @ParameterizedTest
    @MethodSource("releases")
    void everySerializerOfTheReleaseExists(ReleaseState release) throws Exception {
        Set<String> states = new TreeSet<>();
        for (String job : List.of("normalize", "detect")) {
            for (StateMetaInfoSnapshot state : states(release.savepoint(job, directory))) {
                for (TypeSerializerSnapshot<?> serializer :
                        state.getSerializerSnapshotsImmutable().values()) {
                    assertThat(serializer.restoreSerializer().duplicate())
                            .as("serializer of %s", state.getName())
                            .isNotNull();
                }
                states.add(state.getName());
            }
        }
        assertThat(states)
                .contains(
                        "log", "version", "seen", "actions", "window", "detector", "plans", "rules", "group", "heard");
    }

    private static List<StateMetaInfoSnapshot> states(Path savepoint) throws IOException {
        List<StateMetaInfoSnapshot> states = new ArrayList<>();
        Path file = savepoint.resolve("_metadata");
        try (InputStream in = Files.newInputStream(file)) {
            CheckpointMetadata metadata = Checkpoints.loadCheckpointMetadata(
                    new DataInputStream(in), CLASSES, savepoint.toUri().toString());
            for (OperatorState operator : metadata.getOperatorStates()) {
                for (OperatorSubtaskState subtask : operator.getStates()) {
                    addStates(subtask, states);
                }
            }
        }
        return states;
    }

    private static void addStates(OperatorSubtaskState subtask, List<StateMetaInfoSnapshot> states) throws IOException {
        for (var keyed : subtask.getManagedKeyedState()) {
            KeyedBackendSerializationProxy<?> header = new KeyedBackendSerializationProxy<>(CLASSES);
            try (FSDataInputStream in = ((StreamStateHandle) keyed).openInputStream()) {
                header.read(new DataInputViewStreamWrapper(in));
            }
            states.addAll(header.getStateMetaInfoSnapshots());
        }
        for (var operator : subtask.getManagedOperatorState()) {
            OperatorBackendSerializationProxy header = new OperatorBackendSerializationProxy(CLASSES);
            try (FSDataInputStream in = operator.openInputStream()) {
                header.read(new DataInputViewStreamWrapper(in));
            }
            states.addAll(header.getOperatorStateMetaInfoSnapshots());
            states.addAll(header.getBroadcastStateMetaInfoSnapshots());
        }
    }
}

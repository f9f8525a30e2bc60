import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Properties;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.DiscardingSink;

/**
 * Counts the numbers of each of KEYS remainders, and appends {@code key count} to the file {@code counts} beside its
 * checkpoints. It does not end. Its arguments are those of Tailrace's jobs.
 *
 * <p>Keys of its configuration: {@code source.millis} and {@code count.millis}, the time for a number before and behind
 * the exchange between subtasks.
 */
public final class Counts {

    private static final long KEYS = 8;

    private Counts() {}

    public static void main(String[] arguments) throws Exception {
        String checkpoints = arguments[1];
        Properties configuration = new Properties();
        try (Reader lines = Files.newBufferedReader(Path.of(arguments[3]))) {
            configuration.load(lines);
        }
        long sourceMillis = Long.parseLong(configuration.getProperty("source.millis"));
        long countMillis = Long.parseLong(configuration.getProperty("count.millis"));

        var environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment
                .fromSequence(0, Long.MAX_VALUE)
                .setParallelism(1)
                .setMaxParallelism(1)
                .map(number -> {
                    Thread.sleep(sourceMillis);
                    return number % KEYS;
                })
                .returns(Types.LONG)
                .setParallelism(1)
                .setMaxParallelism(1)
                .keyBy(key -> key)
                .map(new Count(Path.of(URI.create(checkpoints)).resolveSibling("counts").toString(), countMillis))
                .uid("count")
                .addSink(new DiscardingSink<>());
        environment.execute();
    }

    private static final class Count extends RichMapFunction<Long, Long> {

        private final String file;
        private final long millis;
        private transient ValueState<Long> state;

        Count(String file, long millis) {
            this.file = file;
            this.millis = millis;
        }

        @Override
        public void open(Configuration parameters) {
            state = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public Long map(Long key) throws IOException, InterruptedException {
            Thread.sleep(millis);
            Long before = state.value();
            long count = before == null ? 1 : before + 1;
            state.update(count);
            Files.writeString(
                    Path.of(file), key + " " + count + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            return count;
        }
    }
}

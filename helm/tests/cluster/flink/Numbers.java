import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** A job that does not end and has state: the number that it has reached. */
public final class Numbers {

    private Numbers() {}

    public static void main(String[] arguments) throws Exception {
        var environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment
                .fromSequence(0, Long.MAX_VALUE)
                .map(number -> {
                    Thread.sleep(10);
                    return number;
                })
                .returns(Types.LONG)
                .sinkTo(new DiscardingSink<>());
        environment.execute("numbers");
    }
}

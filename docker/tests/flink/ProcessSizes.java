import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;

/**
 * Prints the bytes of a JobManager's and a TaskManager's process, as Flink's own scripts compute them at a start.
 *
 * <p>Arguments: the directory of config.yaml; then {@code key=value} for what FLINK_PROPERTIES adds.
 */
public final class ProcessSizes {

    private ProcessSizes() {}

    public static void main(String[] arguments) {
        Configuration flink = GlobalConfiguration.loadConfiguration(arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            String[] option = arguments[i].split("=", 2);
            flink.setString(option[0], option[1]);
        }
        long jobManager = JobManagerProcessUtils.processSpecFromConfig(flink)
                .getTotalProcessMemorySize()
                .getBytes();
        long taskManager = TaskExecutorProcessUtils.processSpecFromConfig(flink)
                .getTotalProcessMemorySize()
                .getBytes();
        System.out.println(jobManager + " " + taskManager);
    }
}

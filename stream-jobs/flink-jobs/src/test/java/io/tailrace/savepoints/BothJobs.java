package io.tailrace.savepoints;

import io.tailrace.flink.detection.DetectionJob;
import io.tailrace.flink.normalize.NormalizeJob;
import java.util.Arrays;
import java.util.List;

/** Runs both jobs in one process: loading and compiling the classes of Flink costs more than all work of the test. */
final class BothJobs {

    /** Separates the arguments of the normalize job from those of the detect job. */
    static final String NEXT = "--";

    private BothJobs() {}

    /** A program of a job. */
    private interface Program {
        void main(String[] arguments) throws Exception;
    }

    /** Ends when one of the jobs has ended. */
    public static void main(String[] arguments) {
        List<String> all = Arrays.asList(arguments);
        int next = all.indexOf(NEXT);
        start(NormalizeJob::main, all.subList(0, next));
        start(DetectionJob::main, all.subList(next + 1, all.size()));
    }

    private static void start(Program job, List<String> arguments) {
        new Thread(() -> run(job, arguments.toArray(String[]::new))).start();
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // the output of the program is part of the test's failure
    private static void run(Program job, String[] arguments) {
        try {
            job.main(arguments);
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
    }
}

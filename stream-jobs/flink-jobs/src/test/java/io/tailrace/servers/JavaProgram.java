package io.tailrace.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Runs a Java program in a separate process, with its output in a file. */
public final class JavaProgram implements AutoCloseable {

    /** The packages that Flink's own scripts open on Java 17. */
    private static final List<String> OPENED = List.of(
            "java.lang",
            "java.lang.reflect",
            "java.net",
            "java.io",
            "java.nio",
            "java.text",
            "java.time",
            "java.util",
            "java.util.concurrent",
            "java.util.concurrent.atomic",
            "java.util.concurrent.locks",
            "sun.nio.ch");

    /** For a program that runs for seconds: the start of C2 and a parallel collector costs more than they save. */
    static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final int LAST_WORDS = 6000;

    private final Process process;
    private final Path output;

    private JavaProgram(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /** @param options of the JVM, such as {@code -Xmx512m} */
    public static JavaProgram start(
            Path output, List<String> options, String classPath, String mainClass, String... arguments)
            throws IOException {
        return start(output, Map.of(), options, classPath, mainClass, arguments);
    }

    /** The same with further variables of the environment. */
    public static JavaProgram start(
            Path output,
            Map<String, String> environment,
            List<String> options,
            String classPath,
            String mainClass,
            String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of("java"));
        OPENED.forEach(name -> command.add("--add-opens=java.base/" + name + "=ALL-UNNAMED"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, mainClass));
        command.addAll(List.of(arguments));
        ProcessBuilder program = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
        program.environment().putAll(environment);
        Process process = program.start();
        return new JavaProgram(process, output);
    }

    /** Returns options of a JVM that runs for seconds. */
    public static List<String> shortLived(String option) {
        List<String> options = new ArrayList<>(SHORT_LIVED);
        options.add(option);
        return options;
    }

    /** Returns options of a JVM that may use an archive of its classes; it ignores one that is missing or does not fit. */
    static List<String> archived(Path archive) {
        return List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:cds=off", "-Xlog:class+path=off");
    }

    /** Returns the test's class path without the modules' tests. */
    public static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end of the program. Fails if it does not end in time. */
    public int exitCode(Duration atMost) throws IOException, InterruptedException {
        if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError(
                    "the program did not end within " + atMost.toSeconds() + " s; its last words:\n" + lastWords());
        }
        return process.exitValue();
    }

    /**
     * Returns the CPU time of the process and all its threads until now, in hundredths of a second: proc_pid_stat(5).
     */
    public long cpuTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    public String output() throws IOException {
        return Files.readString(output);
    }

    /** Like {@link Await#until}, but fails when the program ends, with its last output. */
    public void await(String what, Duration atMost, Callable<Boolean> condition)
            throws IOException, InterruptedException {
        try {
            Await.until(what, atMost, () -> !isAlive() || condition.call());
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "; the program's last words:\n" + lastWords(), e);
        }
        if (!isAlive()) {
            throw new AssertionError("the program ended before: " + what + "; its last words:\n" + lastWords());
        }
    }

    private String lastWords() throws IOException {
        String all = output();
        return all.substring(Math.max(0, all.length() - LAST_WORDS));
    }

    /** Sends SIGTERM, so that a flight recording is written. */
    public void terminate() throws InterruptedException {
        process.destroy();
        process.waitFor();
    }

    /** Sends SIGKILL. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}

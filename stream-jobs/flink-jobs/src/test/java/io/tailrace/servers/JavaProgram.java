package io.tailrace.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** A Java program in a process of its own, its output in a file. */
public final class JavaProgram implements AutoCloseable {

    /** What Flink's own scripts open to it on Java 17. */
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

    /** For a program that lives for seconds: what C2 and a parallel collector gain it does not earn back. */
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

    /** Options of a JVM that lives for seconds. */
    public static List<String> shortLived(String option) {
        List<String> options = new ArrayList<>(SHORT_LIVED);
        options.add(option);
        return options;
    }

    /** The test's own class path without the modules' tests. */
    public static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public int exitCode() throws InterruptedException {
        return process.waitFor();
    }

    /** CPU time of the process and all its threads until now, in hundredths of a second: proc_pid_stat(5). */
    public long cpuTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    public String output() throws IOException {
        return Files.readString(output);
    }

    /** As {@link Await#until}, but ends when the program does; what it printed last is part of the failure. */
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

    /** As {@code kill}: a flight recording is written. */
    public void terminate() throws InterruptedException {
        process.destroy();
        process.waitFor();
    }

    /** As {@code kill -9}. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}

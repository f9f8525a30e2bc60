package io.tailrace.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Runs a standalone Flink cluster: a JobManager and a TaskManager, each in a separate process. */
public final class FlinkCluster implements AutoCloseable {

    private static final String JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
    private static final String TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
    private static final Duration START_TIME = Duration.ofSeconds(300);
    private static final Pattern FILE_NAME = Pattern.compile("\"filename\"\\s*:\\s*\"([^\"]+)\"");

    /**
     * Libraries that the job contains, and those that only tests need: on both class paths they would be loaded twice.
     */
    private static final List<String> NOT_FLINKS = List.of(
            "normalize-job",
            "/classes",
            "/test-classes",
            "flink-connector-kafka",
            "flink-avro",
            "kafka-clients",
            "/avro/",
            "junit",
            "archunit",
            "assertj",
            "-tests.jar",
            "flink-test-utils",
            "testcontainers");

    private final Path directory;
    private final int restPort = Repository.freePort();
    private final HttpClient client = HttpClient.newHttpClient();
    private JavaProgram jobManager;
    private JavaProgram taskManager;

    private FlinkCluster(Path directory) {
        this.directory = directory;
    }

    public static FlinkCluster start(Path directory) throws Exception {
        FlinkCluster cluster = new FlinkCluster(directory);
        Files.createDirectories(directory);
        cluster.configure();
        cluster.jobManager = cluster.launch(JOB_MANAGER, "-Xmx384m");
        cluster.launchTaskManager();
        Await.until("a TaskManager", START_TIME, () -> cluster.get("/overview").contains("\"slots-total\":2"));
        return cluster;
    }

    /** Starts a TaskManager in place of one that was killed. */
    public void launchTaskManager() throws IOException {
        taskManager = launch(TASK_MANAGER, "-Xmx640m");
    }

    public void killTaskManager() throws InterruptedException {
        taskManager.kill();
    }

    /** Uploads a jar and runs its main class, like the web UI. */
    public void submit(Path jar, String mainClass, List<String> arguments) throws IOException, InterruptedException {
        Matcher uploaded = FILE_NAME.matcher(upload(jar));
        if (!uploaded.find()) {
            throw new IOException("the JobManager did not take " + jar);
        }
        String id = Path.of(uploaded.group(1)).getFileName().toString();
        String list = arguments.stream()
                .map(argument -> '"' + argument.replace("\\", "\\\\") + '"')
                .collect(Collectors.joining(","));
        String body = "{\"entryClass\":\"" + mainClass + "\",\"programArgsList\":[" + list + "]}";
        send(HttpRequest.newBuilder(uri("/jars/" + id + "/run"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build());
    }

    private String upload(Path jar) throws IOException, InterruptedException {
        String boundary = "tailrace";
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"jarfile\"; filename=\"job.jar\"\r\n"
                + "Content-Type: application/x-java-archive\r\n\r\n";
        body.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
        body.writeBytes(Files.readAllBytes(jar));
        body.writeBytes(("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.US_ASCII));
        return send(HttpRequest.newBuilder(uri("/jars/upload"))
                .header("Content-Type", "multipart/form-data; boundary=" + boundary)
                .POST(BodyPublishers.ofByteArray(body.toByteArray()))
                .build());
    }

    private String get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(path)).build());
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + restPort + path);
    }

    private String send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(response.body());
        }
        return response.body();
    }

    private void configure() throws IOException {
        Files.writeString(
                directory.resolve("config.yaml"),
                """
                jobmanager.rpc.address: 127.0.0.1
                jobmanager.bind-host: 127.0.0.1
                jobmanager.rpc.port: %d
                rest.address: 127.0.0.1
                rest.bind-address: 127.0.0.1
                rest.port: %d
                taskmanager.host: 127.0.0.1
                taskmanager.bind-host: 127.0.0.1
                taskmanager.numberOfTaskSlots: 2
                taskmanager.cpu.cores: 1
                taskmanager.memory.task.heap.size: 384m
                taskmanager.memory.task.off-heap.size: 0m
                taskmanager.memory.network.min: 64m
                taskmanager.memory.network.max: 64m
                taskmanager.memory.managed.size: 0m
                taskmanager.memory.framework.heap.size: 128m
                taskmanager.memory.framework.off-heap.size: 128m
                taskmanager.memory.jvm-metaspace.size: 256m
                taskmanager.memory.jvm-overhead.min: 128m
                taskmanager.memory.jvm-overhead.max: 128m
                """
                        .formatted(Repository.freePort(), restPort));
    }

    private JavaProgram launch(String mainClass, String heap) throws IOException {
        String name = mainClass.substring(mainClass.lastIndexOf('.') + 1);
        Path log = directory.resolve(name + ".log");
        return JavaProgram.start(log, List.of(heap), classPath(), mainClass, "--configDir", directory.toString());
    }

    private static String classPath() {
        return Arrays.stream(JavaProgram.classPath().split(":"))
                .filter(entry -> NOT_FLINKS.stream().noneMatch(entry::contains))
                .collect(Collectors.joining(":"));
    }

    @Override
    public void close() throws Exception {
        taskManager.kill();
        jobManager.kill();
    }
}

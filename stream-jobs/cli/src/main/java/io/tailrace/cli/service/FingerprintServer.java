package io.tailrace.cli.service;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URLEncoder;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Computes fingerprints for the dashboards, which have no JVM, over a Unix socket that only its own user can open.
 *
 * <p>A connection is one request. The client sends a statement in UTF-8 and ends its side of the connection. The answer
 * is a line and then the fingerprint. The line has four parts with tabs between them: the query id, followed by a blank
 * and the id of the previous rules if that is another one; the verb, which can be empty; the tables that the statement
 * reads; and those that it writes, both as the fingerprint names them, percent-encoded and separated by commas. A request that is refused gets the line {@code refused: REASON}. Statements are never logged.
 */
public final class FingerprintServer implements AutoCloseable {

    /** Longest statement, bytes. */
    static final int MAX_STATEMENT = 1 << 20;

    /** Time from the start of a connection after which it is closed, so that a slow client does not hold a thread. */
    private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

    private static final int THREADS = 4;
    private static final int MAX_WAITING = 64;
    private static final int USAGE = 2;

    private static final HexFormat ID_DIGITS = HexFormat.of().withUpperCase();

    private final ServerSocketChannel server;
    private final Duration timeLimit;
    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final ExecutorService workers =
            new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_WAITING));
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    /** Opens the socket and replaces the one of a former server. */
    FingerprintServer(Path socket, Duration timeLimit) throws IOException {
        this.timeLimit = timeLimit;
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        Path draft = socket.resolveSibling("." + socket.getFileName());
        Files.deleteIfExists(draft);
        server.bind(UnixDomainSocketAddress.of(draft));
        Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
        Files.move(draft, socket, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("usage: FingerprintServer SOCKET");
            System.exit(USAGE);
        }
        try (FingerprintServer server = new FingerprintServer(Path.of(arguments[0]), TIME_LIMIT)) {
            server.serve();
        }
    }

    /** Answers requests until {@link #close} is called. */
    void serve() throws IOException {
        try {
            while (true) {
                accept(server.accept());
            }
        } catch (ClosedChannelException e) {
            // The end of the server.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        workers.shutdownNow();
        timer.shutdownNow();
    }

    private void accept(SocketChannel client) {
        ScheduledFuture<?> limit =
                timer.schedule(() -> closeQuietly(client), timeLimit.toMillis(), TimeUnit.MILLISECONDS);
        try {
            workers.execute(() -> {
                handle(client);
                limit.cancel(false);
            });
        } catch (RejectedExecutionException e) {
            limit.cancel(false);
            closeQuietly(client);
        }
    }

    private void handle(SocketChannel client) {
        try (client) {
            ByteBuffer reply = ByteBuffer.wrap(reply(client).getBytes(StandardCharsets.UTF_8));
            while (reply.hasRemaining()) {
                client.write(reply);
            }
        } catch (IOException e) {
            // The client is gone or was too slow: there is nobody to answer.
        }
    }

    private String reply(SocketChannel client) throws IOException {
        byte[] statement = Channels.newInputStream(client).readNBytes(MAX_STATEMENT + 1);
        if (statement.length > MAX_STATEMENT) {
            return "refused: the statement is longer than " + MAX_STATEMENT + " bytes\n";
        }
        try {
            return fingerprint(statement);
        } catch (RuntimeException e) {
            // Without its message, which may contain a part of the statement.
            System.err.println(
                    "a statement was not fingerprinted: " + e.getClass().getName() + " at "
                            + (e.getStackTrace().length == 0 ? "an unknown place" : e.getStackTrace()[0]));
            return "refused: the statement cannot be fingerprinted\n";
        }
    }

    private synchronized String fingerprint(byte[] statement) {
        NormalizedStatement shape = fingerprinter.statement(statement, 0, statement.length);
        long previous = fingerprinter.previousId(shape, statement, 0, statement.length);
        String former = previous == shape.queryId() ? "" : " " + ID_DIGITS.toHexDigits(previous);
        String head = String.join(
                "\t",
                shape.queryIdText() + former,
                shape.verb(),
                encoded(shape.tablesRead(), shape),
                encoded(shape.tablesWritten(), shape));
        return head + "\n" + shape.fingerprint();
    }

    /** Returns the names without blanks, commas and line feeds, which a name in backticks can contain. */
    private static String encoded(List<String> tables, NormalizedStatement shape) {
        return Fingerprinter.namesInClass(tables, shape.fingerprint()).stream()
                .map(name -> URLEncoder.encode(name, StandardCharsets.UTF_8))
                .collect(Collectors.joining(","));
    }

    private static void closeQuietly(SocketChannel client) {
        try {
            client.close();
        } catch (IOException e) {
            // It is closed for this process.
        }
    }
}

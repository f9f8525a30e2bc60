package io.tailrace.cli.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FingerprintServerTest {

    private static final Duration NEVER = Duration.ofHours(1);
    private static final Path RULES = Path.of("../query-core/src/test/resources/fingerprint/rules.psv");

    @TempDir
    private Path directory;

    private Path socket;
    private FingerprintServer server;

    @BeforeEach
    void start() throws IOException {
        socket = directory.resolve("fingerprint.sock");
        server = started(NEVER);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private FingerprintServer started(Duration timeLimit) throws IOException {
        FingerprintServer started = new FingerprintServer(socket, timeLimit);
        new Thread(() -> {
                    try {
                        started.serve();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .start();
        return started;
    }

    private SocketChannel connected() throws IOException {
        SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX);
        client.connect(UnixDomainSocketAddress.of(socket));
        return client;
    }

    private String answer(byte[] statement) throws IOException {
        try (SocketChannel client = connected()) {
            ByteBuffer request = ByteBuffer.wrap(statement);
            while (request.hasRemaining()) {
                client.write(request);
            }
            client.shutdownOutput();
            return rest(client);
        }
    }

    private static String rest(SocketChannel client) throws IOException {
        return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void everyRuleHasItsFingerprintAndId() throws IOException {
        Fingerprinter own = new Fingerprinter();
        List<String> lines = Files.readAllLines(RULES);
        for (String line : lines) {
            int end = line.lastIndexOf('|');
            byte[] statement = bytes(line.substring(line.indexOf('|') + 1, end).replace("\\n", "\n"));
            NormalizedStatement shape = own.statement(statement, 0, statement.length);
            assertThat(answer(statement))
                    .as(line)
                    .startsWith(shape.queryIdText())
                    .endsWith("\n" + line.substring(end + 1));
        }
        assertThat(lines).hasSizeGreaterThan(80);
    }

    @Test
    void theIdOfThePreviousRulesFollowsIfItIsAnotherOne() throws IOException {
        byte[] use = bytes("USE shop");
        Fingerprinter own = new Fingerprinter();
        NormalizedStatement shape = own.statement(use, 0, use.length);
        String previous = "%016X".formatted(own.previousId(shape, use, 0, use.length));
        assertThat(answer(use)).isEqualTo(shape.queryIdText() + " " + previous + "\tUSE\t\t\nuse shop");
        assertThat(answer(bytes("SELECT 1"))).matches("[0-9A-F]{16}\tSELECT\t\t\nselect \\?");
    }

    @Test
    void theVerbAndTheTablesFollowAsTheFingerprintNamesThem() throws IOException {
        assertThat(answer(bytes("INSERT INTO Log_7 SELECT * FROM shop.orders JOIN `a, b\tc` USING (id)")))
                .matches("(?s)[0-9A-F]{16}\tINSERT\tshop\\.orders,a%2C\\+b%09c\tlog_%3F\ninsert .*");
    }

    @Test
    void anyBytesAreAStatement() throws IOException {
        assertThat(answer(new byte[] {'s', 'e', 't', ' ', 0, ' ', (byte) 0xff, (byte) 0xc3}))
                .matches("(?s)[0-9A-F]{16}( [0-9A-F]{16})?\tSET\t\t\nset .*");
        assertThat(answer(new byte[0])).matches("[0-9A-F]{16}\t\t\t\n");
    }

    @Test
    void theLongestStatementIsAnsweredAndALongerOneIsRefused() throws IOException {
        byte[] longest = new byte[FingerprintServer.MAX_STATEMENT];
        Arrays.fill(longest, (byte) '(');
        System.arraycopy(bytes("select "), 0, longest, 0, 7);
        assertThat(answer(longest)).matches("(?s)[0-9A-F]{16}\tSELECT\t\t\nselect \\(.*");
        assertThat(answer(Arrays.copyOf(longest, longest.length + 1)))
                .isEqualTo("refused: the statement is longer than 1048576 bytes\n");
        assertThat(answer(bytes("SELECT 1"))).endsWith("\nselect ?");
    }

    @Test
    void aSlowClientDoesNotDelayOthers() throws IOException {
        try (SocketChannel slow = connected()) {
            slow.write(ByteBuffer.wrap(bytes("SELECT 'half a statem")));
            assertThat(answer(bytes("SELECT 1"))).endsWith("\nselect ?");
        }
    }

    @Test
    void aClientThatSendsNoEndIsDisconnected() throws IOException {
        server.close();
        server = started(Duration.ofMillis(1));
        try (SocketChannel silent = connected()) {
            assertThat(rest(silent)).isEmpty();
        }
    }

    @Test
    void onlyItsUserCanOpenTheSocketWhichReplacesTheOneOfAFormerServer() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                .isEqualTo("rw-------");
        server.close();
        assertThat(socket).exists();
        server = started(NEVER);
        assertThat(answer(bytes("SELECT 1"))).endsWith("\nselect ?");
    }
}

package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.LedgerEntry;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.flink.clickhouse.InsertResult.Unavailable;
import io.tailrace.servers.Await;
import io.tailrace.servers.SharedClickHouse;
import io.tailrace.servers.TlsForwarder;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Runs against a real ClickHouse behind a TLS proxy, whose certificate a private authority has signed. */
@Tag("slow")
class ClickHouseTlsTest {

    /** The first handshakes of a JVM exceed the timeout of a connection on a busy machine. */
    private static final Duration SOON = Duration.ofMinutes(5);

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    @TempDir
    static Path directory;

    private static TlsForwarder tls;

    @BeforeAll
    static void start() throws Exception {
        tls = TlsForwarder.to(CLICKHOUSE.server().url().getPort(), directory);
    }

    @AfterAll
    static void stop() throws Exception {
        tls.close();
    }

    @Test
    void anAuthorityOfItsOwnIsTrusted() throws Exception {
        ClickHouseHttpClient store = store("127.0.0.1", tls.authority());
        PendingBlock posting = posting();
        Await.until(
                "the posting to be stored", SOON, () -> store.insert(posting).equals(new Stored()));
    }

    @Test
    void theRuntimesAuthoritiesDoNotSuffice() throws Exception {
        ClickHouseHttpClient store = new ClickHouseHttpClient(new ClickHouseConnection(
                address("127.0.0.1"),
                "writer",
                CLICKHOUSE.server().passwordFile().toString()));
        assertThat(reason(store)).contains("unable to find valid certification path");
    }

    @Test
    void aCertificateOfAnotherNameIsRefused() throws Exception {
        assertThat(reason(store("localhost", tls.authority()))).contains("No name matching localhost found");
    }

    @Test
    void aFileWithoutACertificateIsNamed() throws Exception {
        Path empty = Files.writeString(directory.resolve("empty.crt"), "");
        assertThatThrownBy(() -> store("127.0.0.1", empty))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("clickhouse.ca-file: no certificate in " + empty);
        Path absent = directory.resolve("absent.crt");
        assertThatThrownBy(() -> store("127.0.0.1", absent))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("clickhouse.ca-file: cannot read")
                .hasMessageContaining("absent.crt");
    }

    private static String reason(ClickHouseHttpClient store) throws Exception {
        AtomicReference<InsertResult> outcome = new AtomicReference<>();
        Await.until("the end of a handshake", SOON, () -> {
            outcome.set(store.insert(posting()));
            return !outcome.get().toString().contains(HttpConnectTimeoutException.class.getName());
        });
        return ((Unavailable) outcome.get()).reason();
    }

    private static ClickHouseHttpClient store(String host, Path authority) throws Exception {
        return new ClickHouseHttpClient(new ClickHouseConnection(
                address(host), "writer", CLICKHOUSE.server().passwordFile().toString(), authority.toString()));
    }

    private static URI address(String host) {
        return URI.create("https://" + host + ':' + tls.port());
    }

    private static PendingBlock posting() {
        RowBinaryEncoder ledger = new RowBinaryEncoder("tailrace.ledger", LedgerEntry.getClassSchema());
        RowBinaryBuffer out = new RowBinaryBuffer(1024);
        ledger.encode(Rows.posting(1), 42, out);
        BlockBuilder block = new BlockBuilder(ledger.layout().text());
        block.add(new RowBlock(ledger.layout().text(), 0, 1, out.toByteArray()));
        return block.seal();
    }
}

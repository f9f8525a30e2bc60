package io.tailrace.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/** Ends TLS in front of a port of this machine. The embedded ClickHouse has no TLS listener of its own. */
public final class TlsForwarder implements AutoCloseable {

    private static final String PASSWORD = "changeit";
    private static final String AUTHORITY = "authority";

    private final SSLServerSocket listener;
    private final int target;
    private final Path authority;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private TlsForwarder(SSLServerSocket listener, int target, Path authority) {
        this.listener = listener;
        this.target = target;
        this.authority = authority;
    }

    /** Forwards a free port to `target`, with a certificate for 127.0.0.1 whose authority is made in `directory`. */
    public static TlsForwarder to(int target, Path directory) throws Exception {
        Path store = directory.resolve("keys.p12");
        Path authority = directory.resolve("ca.crt");
        keytool(store, "-genkeypair", AUTHORITY, "-keyalg", "EC", "-dname", "CN=Authority", "-ext", "bc:c");
        keytool(
                store,
                "-genkeypair",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=clickhouse",
                "-signer",
                AUTHORITY,
                "-ext",
                "san=ip:127.0.0.1");
        keytool(store, "-exportcert", AUTHORITY, "-rfc", "-file", authority.toString());
        TlsForwarder made = new TlsForwarder(listener(store), target, authority);
        made.threads.execute(made::accept);
        return made;
    }

    /** Returns the port with TLS. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Returns the file with the certificate of the authority, in PEM format. */
    public Path authority() {
        return authority;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        threads.shutdownNow();
    }

    private static void keytool(Path store, String command, String alias, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                command,
                "-alias",
                alias,
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD));
        words.addAll(List.of(more));
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        if (process.waitFor() != 0) {
            throw new IllegalStateException(said);
        }
    }

    private static SSLServerSocket listener(Path store) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream content = Files.newInputStream(store)) {
            keys.load(content, PASSWORD.toCharArray());
        }
        keys.deleteEntry(AUTHORITY);
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        return (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0, 50, loopback);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getByName("127.0.0.1"), target);
                threads.execute(() -> copy(client, server));
                threads.execute(() -> copy(server, client));
            } catch (IOException e) {
                // Closed, or a client that ended its connection.
            }
        }
    }

    private static void copy(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // The other direction has closed both.
        }
    }
}

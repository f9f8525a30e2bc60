package io.tailrace.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The authorities that sign ClickHouse's certificate, if the environment names a file with them. Otherwise clients use
 * those that the JVM trusts.
 */
public final class ClickHouseAuthorities {

    /** The environment variable with the path of a PEM file. */
    public static final String VARIABLE = "TAILRACE_CLICKHOUSE_CA_FILE";

    private ClickHouseAuthorities() {}

    /**
     * Returns what verifies ClickHouse's certificate; empty if the environment names no file.
     *
     * @throws IOException if the file cannot be read or contains no certificate; the message names the file
     */
    public static Optional<SSLContext> context(Map<String, String> environment) throws IOException {
        String file = environment.getOrDefault(VARIABLE, "");
        return file.isEmpty() ? Optional.empty() : Optional.of(trusting(Path.of(file), VARIABLE));
    }

    /**
     * Returns a context that trusts the certificates in a PEM file, and no others.
     *
     * @param setting the option or variable with the path, for messages
     * @throws IOException if the file cannot be read or contains no certificate; the message names it
     */
    public static SSLContext trusting(Path file, String setting) throws IOException {
        try (InputStream content = Files.newInputStream(file)) {
            KeyStore authorities = KeyStore.getInstance(KeyStore.getDefaultType());
            authorities.load(null, null);
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(content)) {
                authorities.setCertificateEntry("authority-" + authorities.size(), each);
            }
            if (authorities.size() == 0) {
                throw new IOException(setting + ": no certificate in " + file);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(authorities);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(setting + ": cannot read " + file + ": " + e.getMessage(), e);
        } catch (NoSuchFileException | AccessDeniedException e) {
            throw new IOException(setting + ": cannot read " + file + ": " + e, e);
        }
    }
}

package io.tailrace.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
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
        return file.isEmpty() ? Optional.empty() : Optional.of(trusting(Path.of(file)));
    }

    private static SSLContext trusting(Path file) throws IOException {
        try (InputStream content = Files.newInputStream(file)) {
            KeyStore authorities = KeyStore.getInstance(KeyStore.getDefaultType());
            authorities.load(null, null);
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(content)) {
                authorities.setCertificateEntry("authority-" + authorities.size(), each);
            }
            if (authorities.size() == 0) {
                throw new IOException(VARIABLE + ": no certificate in " + file);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(authorities);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(VARIABLE + ": cannot read " + file + ": " + e.getMessage(), e);
        }
    }
}

package io.tailrace.flink.clickhouse;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS with certificates that only given authorities may sign: a private authority needs no truststore of the JVM. */
final class TrustedAuthorities {

    private TrustedAuthorities() {}

    /**
     * Returns a context that trusts the certificates in a PEM file, and no others.
     *
     * @throws IOException if the file cannot be read or contains no certificate; the message names it
     */
    static SSLContext of(Path pem) throws IOException {
        Collection<? extends Certificate> authorities = read(pem);
        if (authorities.isEmpty()) {
            throw new IOException("clickhouse.ca-file " + pem + " contains no certificate");
        }
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate authority : authorities) {
                store.setCertificateEntry("authority-" + store.size(), authority);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("clickhouse.ca-file " + pem + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static Collection<? extends Certificate> read(Path pem) throws IOException {
        try (InputStream content = Files.newInputStream(pem)) {
            return CertificateFactory.getInstance("X.509").generateCertificates(content);
        } catch (CertificateException e) {
            throw new IOException("clickhouse.ca-file " + pem + " contains no certificate in PEM format", e);
        } catch (IOException e) {
            throw new IOException("cannot read clickhouse.ca-file: " + e, e);
        }
    }
}

package io.tailrace.flink.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.configuration.WebOptions;

/**
 * The web UI of a job that starts its own Flink. It listens on 127.0.0.1, like all ports of this Flink; a cluster has
 * its own UI.
 *
 * @param port TCP port; 0 for any free one
 * @param keystore PKCS12 file with its key and certificate; empty for HTTP without a login
 * @param truststore PKCS12 file with the authorities whose client certificates are accepted
 * @param passwordFile file with the password of both
 */
public record WebUiConfig(int port, String keystore, String truststore, String passwordFile) {

    /** @throws ConfigurationException if only some of the files are named */
    public WebUiConfig {
        boolean all = !keystore.isEmpty() && !truststore.isEmpty() && !passwordFile.isEmpty();
        if (!all && !(keystore + truststore + passwordFile).isEmpty()) {
            throw new ConfigurationException("web.keystore, web.truststore and web.password-file go together");
        }
    }

    /** Returns a configuration without TLS. */
    public static WebUiConfig plain(int port) {
        return new WebUiConfig(port, "", "", "");
    }

    void configure(Configuration flink) {
        flink.set(RestOptions.ADDRESS, "127.0.0.1");
        flink.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
        flink.set(RestOptions.PORT, port);
        flink.set(RestOptions.BIND_PORT, Integer.toString(port));
        // By default, Flink's blob server would listen on all interfaces.
        flink.set(JobManagerOptions.BIND_HOST, "127.0.0.1");
        if (!keystore.isEmpty()) {
            askForCertificates(flink);
        }
    }

    private void askForCertificates(Configuration flink) {
        String password = password();
        flink.set(SecurityOptions.SSL_REST_ENABLED, true);
        flink.set(SecurityOptions.SSL_REST_AUTHENTICATION_ENABLED, true);
        // Flink's defaults are TLS 1.2 and suites for RSA keys.
        flink.set(SecurityOptions.SSL_PROTOCOL, "TLSv1.3");
        flink.set(SecurityOptions.SSL_ALGORITHMS, "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384");
        flink.set(SecurityOptions.SSL_REST_KEYSTORE, keystore);
        flink.set(SecurityOptions.SSL_REST_KEYSTORE_PASSWORD, password);
        flink.set(SecurityOptions.SSL_REST_KEY_PASSWORD, password);
        flink.set(SecurityOptions.SSL_REST_TRUSTSTORE, truststore);
        flink.set(SecurityOptions.SSL_REST_TRUSTSTORE_PASSWORD, password);
        flink.set(SecurityOptions.SSL_INTERNAL_ENABLED, true);
        flink.set(SecurityOptions.SSL_INTERNAL_KEYSTORE, keystore);
        flink.set(SecurityOptions.SSL_INTERNAL_KEYSTORE_PASSWORD, password);
        flink.set(SecurityOptions.SSL_INTERNAL_KEY_PASSWORD, password);
        flink.set(SecurityOptions.SSL_INTERNAL_TRUSTSTORE, truststore);
        flink.set(SecurityOptions.SSL_INTERNAL_TRUSTSTORE_PASSWORD, password);
        // Users of the web UI can read everything, but change nothing.
        flink.set(WebOptions.SUBMIT_ENABLE, false);
        flink.set(WebOptions.CANCEL_ENABLE, false);
        flink.set(WebOptions.RESCALE_ENABLE, false);
    }

    private String password() {
        try {
            return Files.readString(Path.of(passwordFile)).strip();
        } catch (IOException e) {
            throw new ConfigurationException("cannot read web.password-file: " + e);
        }
    }
}

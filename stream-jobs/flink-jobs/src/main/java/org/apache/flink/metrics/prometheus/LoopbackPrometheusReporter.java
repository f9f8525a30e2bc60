package org.apache.flink.metrics.prometheus;

import io.prometheus.client.exporter.HTTPServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Flink's Prometheus reporter, restricted to 127.0.0.1: that of Flink 2.2 listens on all addresses and has no setting
 * for it. It is in Flink's package because the registry of its superclass is package-private.
 */
final class LoopbackPrometheusReporter extends AbstractPrometheusReporter {

    private final HTTPServer server;

    LoopbackPrometheusReporter(int port) {
        try {
            server = new HTTPServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), registry, true);
        } catch (IOException e) {
            throw new UncheckedIOException("metrics cannot be served at port " + port, e);
        }
    }

    @Override
    public void close() {
        server.stop();
        super.close();
    }
}

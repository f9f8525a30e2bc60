import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** An OpenSearch node on loopback: {@code java Receiver.java DIRECTORY HTTP_PORT TRANSPORT_PORT}. It ends with SIGKILL. */
class Receiver extends Node {

    Receiver(Settings settings) {
        super(
                InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "receiver"),
                List.of(Netty4Plugin.class),
                true);
    }

    public static void main(String[] words) throws Exception {
        Settings settings = Settings.builder()
                .put("path.home", Path.of(words[0]).toString())
                .put("http.port", words[1])
                .put("transport.port", words[2])
                .put("network.host", "127.0.0.1")
                .put("discovery.type", "single-node")
                .put("transport.type", "netty4")
                .put("http.type", "netty4")
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build();
        new Receiver(settings).start();
        Thread.currentThread().join();
    }
}

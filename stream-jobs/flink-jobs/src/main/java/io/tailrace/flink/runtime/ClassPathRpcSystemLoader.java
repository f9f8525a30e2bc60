package io.tailrace.flink.runtime;

import java.util.ServiceLoader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;
import org.apache.flink.runtime.rpc.exceptions.RpcLoaderException;

/**
 * Loads Flink's RPC system from the class path, on which the stack on one machine has flink-rpc-akka.jar.
 *
 * <p>Flink's own loader writes this jar (21 MB) to a temporary file at each start, which remains if the process is
 * killed, and loads 1,400 classes from it, which cannot be in a class archive. Without the jar on the class path Flink
 * falls back to its own loader.
 */
public final class ClassPathRpcSystemLoader implements RpcSystemLoader {

    /** Flink tries the loader with the lowest number first. Its own has 0. */
    private static final int BEFORE_FLINKS_OWN = -1;

    @Override
    public int getLoadPriority() {
        return BEFORE_FLINKS_OWN;
    }

    /** @throws RpcLoaderException if the class path has no RPC system */
    @Override
    public RpcSystem loadRpcSystem(Configuration configuration) {
        return ServiceLoader.load(RpcSystem.class)
                .findFirst()
                .orElseThrow(() -> new RpcLoaderException("flink-rpc-akka.jar is not on the class path"));
    }
}

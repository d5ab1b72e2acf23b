package dev.ringfetch.benchmarks.stores;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.client.config.RoutingMode;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.util.IdentityHashMap;
import java.util.List;

/** A map of a Hazelcast cluster; each call goes to the member that owns the key. */
public final class HazelcastStore implements Store {
  /** Name of cluster and map. */
  public static final String NAME = "bench";

  /** The flags that Hazelcast asks for, so that it is as fast as it can be. */
  public static final List<String> FLAGS =
      List.of(
          "--add-modules=java.se",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.management/sun.management=ALL-UNNAMED",
          "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED");

  private static final int CONNECT_MILLIS = 60_000;

  private final HazelcastInstance client;
  private final IMap<byte[], byte[]> map;

  /**
   * Connects.
   *
   * @param target addresses of members, with commas between
   */
  HazelcastStore(String target) {
    final ClientConfig config = new ClientConfig();
    config.setClusterName(NAME);
    config.setProperty("hazelcast.logging.type", "none");
    config
        .getConnectionStrategyConfig()
        .getConnectionRetryConfig()
        .setClusterConnectTimeoutMillis(CONNECT_MILLIS);
    config
        .getNetworkConfig()
        .setAddresses(List.of(target.split(",", -1)))
        .setRedoOperation(true)
        .getClusterRoutingConfig()
        .setRoutingMode(RoutingMode.ALL_MEMBERS);
    client = HazelcastClient.newHazelcastClient(config);
    map = client.getMap(NAME);
  }

  @Override
  public Session open() {
    return new Operations(map);
  }

  @Override
  public void clear() {
    throw new UnsupportedOperationException("its members are new");
  }

  @Override
  public long usedBytes() {
    throw new UnsupportedOperationException("not measured");
  }

  @Override
  public void close() {
    client.shutdown();
  }

  private record Operations(IMap<byte[], byte[]> map) implements Session {
    @Override
    public boolean get(long number) {
      final byte[] value = map.get(StoreClient.key(number));
      return value != null && Entries.isValue(number, value, 0, value.length);
    }

    /** Without the earlier value, which {@code put} would return. */
    @Override
    public void put(long number, long stamp) {
      map.set(StoreClient.key(number), StoreClient.value(number, stamp));
    }

    @Override
    public void putAll(long first, long end) {
      final IdentityHashMap<byte[], byte[]> entries = new IdentityHashMap<>(); // keys differ
      for (long number = first; number < end; number++) {
        entries.put(StoreClient.key(number), StoreClient.value(number, 0));
      }
      map.setAll(entries);
    }
  }
}

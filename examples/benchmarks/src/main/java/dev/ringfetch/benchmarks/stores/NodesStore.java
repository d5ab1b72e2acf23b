package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A hash index of one node or several, by {@link IndexClient}, which follows its leader. */
final class NodesStore implements Store {
  /** Longer than any change of leader. */
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private static final Logger CHANNELS = Logger.getLogger("dev.ringfetch.rpc");

  private final IndexClient client;
  private final HashIndex<byte[], byte[]> index;

  /**
   * Creates it; nothing is connected yet.
   *
   * @param target addresses of nodes, with commas between
   */
  NodesStore(String target) {
    CHANNELS.setLevel(Level.WARNING); // the end of a ring to a killed node is no news here
    client = IndexClient.builder().target(target).deadline(DEADLINE).build();
    index = client.hash(StoreClient.INDEX, Codec.bytes(), Codec.bytes());
  }

  @Override
  public Session open() {
    return new Operations(index);
  }

  @Override
  public void clear() {
    throw new UnsupportedOperationException("its nodes are new");
  }

  @Override
  public long usedBytes() {
    throw new UnsupportedOperationException("not measured");
  }

  @Override
  public void close() {
    client.close();
  }

  private record Operations(HashIndex<byte[], byte[]> index) implements Session {
    @Override
    public boolean get(long number) {
      return index
          .get(StoreClient.key(number))
          .filter(value -> Entries.isValue(number, value, 0, value.length))
          .isPresent();
    }

    @Override
    public void put(long number, long stamp) {
      index.put(StoreClient.key(number), StoreClient.value(number, stamp));
    }

    @Override
    public void putAll(long first, long end) {
      final IdentityHashMap<byte[], byte[]> entries = new IdentityHashMap<>(); // keys differ
      for (long number = first; number < end; number++) {
        entries.put(StoreClient.key(number), StoreClient.value(number, 0));
      }
      index.putAll(entries);
    }
  }
}

package dev.ringfetch.benchmarks.stores;

import java.util.List;

/** The ways in which a client's process reaches entries. */
public enum StoreKind {
  /** The Index service by stubs, of whatever server the channel leads to. */
  stub,
  /** {@link Echo} over the same ring. */
  echo,
  /** The memory of an index. */
  direct,
  /** Chronicle Map. */
  chronicle,
  /** LMDB. */
  lmdb,
  /** Redis. */
  redis,
  /** memcached. */
  memcached;

  /** The flags that its client's JVM needs. */
  public List<String> flags() {
    return switch (this) {
      case chronicle -> ChronicleStore.FLAGS;
      case lmdb -> LmdbStore.FLAGS;
      case stub, echo, direct, redis, memcached -> List.of();
    };
  }
}

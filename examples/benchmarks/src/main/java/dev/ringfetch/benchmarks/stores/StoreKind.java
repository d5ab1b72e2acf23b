package dev.ringfetch.benchmarks.stores;

import java.util.List;

/** The ways in which a client's process reaches entries. */
public enum StoreKind {
  /** The Index service by stubs, of whatever server the channel leads to: a hash index. */
  stub,
  /** Same, an ordered index. */
  orderedStub,
  /** As {@link #stub}, with a number of each write, so that it could be sent again. */
  numberedStub,
  /** As {@link #stub}, with a time-to-live of each entry. */
  expiringStub,
  /** {@link Echo} over the same ring. */
  echo,
  /** The memory of an index. */
  direct,
  /** The memory of an ordered index. */
  orderedDirect,
  /** Chronicle Map. */
  chronicle,
  /** LMDB. */
  lmdb,
  /** Redis. */
  redis,
  /** Redis with its keys in a sorted set besides. */
  redisSorted,
  /** memcached. */
  memcached,
  /** RocksDB in the client's process, each write synced. */
  rocks,
  /** etcd, whose writes are synced: one member or several. */
  etcd,
  /** An index of one node or several, by {@code IndexClient}. */
  nodes,
  /** The memory of such an index, of which all nodes run on this machine. */
  directNodes,
  /** Hazelcast: a map of several members. */
  hazelcast;

  /** The flags that its client's JVM needs. */
  public List<String> flags() {
    return switch (this) {
      case chronicle -> ChronicleStore.FLAGS;
      case lmdb -> LmdbStore.FLAGS;
      case hazelcast -> HazelcastStore.FLAGS;
      case stub,
          orderedStub,
          numberedStub,
          expiringStub,
          echo,
          direct,
          orderedDirect,
          redis,
          redisSorted,
          memcached,
          rocks,
          etcd,
          nodes,
          directNodes ->
          List.of();
    };
  }

  /** Number of an entry behind which no client of another kind inserts any into the same store. */
  long firstInsert() {
    return (this == orderedDirect ? 2L : 1L) << 40; // two kinds write to one index
  }
}

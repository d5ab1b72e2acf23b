package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.ListIndexesResponse;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A client of an index server: has typed views of the server's indexes.
 *
 * <pre>{@code
 * try (IndexClient client = IndexClient.connect("localhost:50051")) {
 *   HashIndex<String, Long> ages = client.hash("ages", Codec.string(), Codec.int64());
 *   ages.put("ada", 36L);
 *   long age = ages.get("ada").orElseThrow();
 * }
 * }</pre>
 *
 * <p>Calls go over a ring if one connects client and server, and over gRPC otherwise. A client
 * connects at its first operation, and reconnects by itself. Safe for use by many threads; one
 * client serves a whole application.
 */
public final class IndexClient implements AutoCloseable {
  /** How long {@link #close} waits for the channel to end. */
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final IndexCalls calls;
  private final RepeatedWrites writes;
  private final DirectAccess direct;
  private final ManagedChannel owned; // null where the channel is the caller's
  private final long timeoutNs;
  private final Map<Named, KnownIndex> known = new ConcurrentHashMap<>();

  /** The name of an index, with the kind that its views need. */
  private record Named(String name, IndexKind kind) {}

  IndexClient(
      IndexCalls calls,
      RepeatedWrites writes,
      DirectAccess direct,
      ManagedChannel owned,
      Duration deadline) {
    this.calls = calls;
    this.writes = writes;
    this.direct = direct;
    this.owned = owned;
    this.timeoutNs = deadline.toNanos();
  }

  /**
   * A client with the defaults, in plaintext. It does not wait for a connection.
   *
   * @param target the server, as {@code host:port} or another target of gRPC; nodes of a cluster;
   *     or its coordinator, as {@link IndexClientBuilder#target} says.
   */
  public static IndexClient connect(String target) {
    return builder().target(target).build();
  }

  /** A builder of a client with other settings. */
  public static IndexClientBuilder builder() {
    return new IndexClientBuilder();
  }

  /**
   * A view of an index whose keys have no order.
   *
   * @param name of the index, at most 255 bytes of UTF-8.
   */
  public <K, V> HashIndex<K, V> hash(String name, Codec<K> keys, Codec<V> values) {
    final KnownIndex index = known(name, IndexKind.HASH);
    final View<K, V> view =
        new View<>(calls, writes, index, new IndexRequests<>(name, keys, values), timeoutNs);
    return new HashIndex<>(view, Access.RPC, direct);
  }

  /**
   * A view of an index with ranges of keys.
   *
   * @param name of the index, at most 255 bytes of UTF-8.
   */
  public <K, V> OrderedIndex<K, V> ordered(String name, OrderedCodec<K> keys, Codec<V> values) {
    final KnownIndex index = known(name, IndexKind.ORDERED);
    return new OrderedIndex<>(
        new View<>(calls, writes, index, new IndexRequests<>(name, keys, values), timeoutNs),
        keys,
        Access.RPC,
        direct);
  }

  /**
   * A view of an index whose entries have boxes.
   *
   * @param name of the index, at most 255 bytes of UTF-8.
   */
  public <K, V> SpatialIndex<K, V> spatial(String name, Codec<K> ids, Codec<V> values) {
    final KnownIndex index = known(name, IndexKind.SPATIAL);
    final var requests = new IndexRequests<>(name, ids, new LocatedCodec<>(values));
    return new SpatialIndex<>(
        new View<>(calls, writes, index, requests, timeoutNs), Access.RPC, direct);
  }

  /**
   * A lock among all clients of the server or the cluster.
   *
   * @param name of the lock, at most 1 KiB of UTF-8.
   */
  public IndexLock lock(String name) {
    return IndexLock.of(hash(IndexLock.INDEX, Codec.string(), Codec.string()), name);
  }

  private KnownIndex known(String name, IndexKind kind) {
    return known.computeIfAbsent(
        new Named(checkName(name), kind), index -> new KnownIndex(index.name(), index.kind()));
  }

  private static String checkName(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("name of an index is empty");
    }
    return name;
  }

  /** Names of the server's indexes, in their order. */
  public List<String> indexes() {
    return listed().stream().map(IndexDescription::getName).toList();
  }

  List<IndexDescription> listed() {
    final ListIndexesResponse response =
        run(
            new Subject(Operation.LIST, "", null),
            Call.reading(
                IndexAdminGrpc.getListIndexesMethod(), ListIndexesRequest.getDefaultInstance()));
    return response.getIndexesList();
  }

  /**
   * Creates an index, if there is none. Views create theirs at the first write, with the server's
   * default of durability.
   *
   * @param durability what an answered write survives; {@link Durability#DURABILITY_UNSPECIFIED}
   *     for the server's default.
   * @return whether it was created. One that is there keeps its durability.
   * @throws IndexException with ALREADY_EXISTS if it is of the other kind; with FAILED_PRECONDITION
   *     if the server does not have this durability.
   */
  public boolean create(String name, IndexKind kind, Durability durability) {
    return create(
        CreateIndexRequest.newBuilder()
            .setIndex(checkName(name))
            .setKind(kind)
            .setDurability(durability)
            .build());
  }

  boolean create(CreateIndexRequest wanted) {
    return run(
            new Subject(Operation.CREATE, wanted.getIndex(), null),
            Call.unnumbered(
                IndexAdminGrpc.getCreateIndexMethod(), wanted, true)) // the second one finds it
        .getCreated();
  }

  /** The topics of the server: logs of records, which programs append and read. */
  public Topics topics() {
    return new Topics(this);
  }

  /** Kind, durability, entries and memory of an index; empty if there is none. */
  public Optional<IndexDescription> describe(String name) {
    final DescribeResponse response =
        run(
            new Subject(Operation.DESCRIBE, checkName(name), null),
            Call.reading(
                IndexGrpc.getDescribeMethod(),
                DescribeRequest.newBuilder().setIndex(name).build()));
    return response.hasIndex() ? Optional.of(response.getIndex()) : Optional.empty();
  }

  /** The state of the server, its journal and its disk; in a cluster that of one of the nodes. */
  public DescribeServerResponse describeServer() {
    return run(
        new Subject(Operation.DESCRIBE, "", null),
        Call.reading(
            IndexAdminGrpc.getDescribeServerMethod(), DescribeServerRequest.getDefaultInstance()));
  }

  /**
   * Drops an index with all its entries. The next write of a view creates it again.
   *
   * @return whether there was one.
   */
  public boolean drop(String name) {
    return drop(name, 0);
  }

  /** As {@link #drop(String)}, unless the index has another incarnation than this; 0: any. */
  boolean drop(String name, long incarnation) {
    final DropIndexResponse response =
        run(
            new Subject(Operation.DROP, checkName(name), null),
            Call.unnumbered(
                IndexAdminGrpc.getDropIndexMethod(),
                DropIndexRequest.newBuilder().setIndex(name).setIncarnation(incarnation).build(),
                incarnation != 0)); // a repeat drops no later one
    for (final IndexKind kind : IndexKind.values()) {
      final KnownIndex index = known.get(new Named(name, kind));
      if (index != null) {
        index.answered(0);
      }
    }
    return response.getExisted();
  }

  private <Q, R> R run(Subject subject, Call<Q, R> call) {
    final OperationRun run = calls.begin(subject, timeoutNs);
    return run.measure(() -> calls.call(run, call));
  }

  /**
   * Ends the client: operations under way fail as UNAVAILABLE or CANCELLED, later ones are refused.
   * Waits until its connections are closed, for up to 5 seconds, less if the thread is interrupted.
   * A channel that was given to the builder stays open. Idempotent.
   */
  @Override
  public void close() {
    calls.close();
    writes.close();
    direct.close();
    if (owned == null) {
      return;
    }
    owned.shutdownNow();
    try {
      owned.awaitTermination(CLOSE_LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

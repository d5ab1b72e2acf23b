package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.AsyncIndex;
import dev.ringfetch.index.client.ClientMetrics;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexClientBuilder;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.SpatialIndex;
import dev.ringfetch.index.client.Topics;
import dev.ringfetch.index.service.Backup;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexAdminGrpc.IndexAdminBlockingStub;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.SnapshotResponse;
import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * A connection to an index server: the client library, and the administrative calls that it lacks.
 * Those fail at once if the server is not reachable, so each command begins with one of them.
 */
final class Connection implements AutoCloseable {
  private static final int SNAPSHOT_SECONDS = 3600;
  private static final int END_SECONDS = 2;

  /** First limit of the time after which another node of several is asked. */
  private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private final String server;
  private final Path shmDirectory; // null: the default
  private final Map<String, String> identity; // options
  private final ManagedChannel channel;
  private final IndexClient client;
  private final AtomicLong callReads = new AtomicLong();
  private Duration timeout;

  Connection(ServerOptions options) {
    server = options.server();
    shmDirectory = options.shmDirectory();
    identity = options.identity();
    timeout = options.timeout();
    final ChannelCredentials credentials = options.credentials();
    try {
      final IndexClientBuilder channels =
          IndexClient.builder().target(String.join(",", options.addresses()));
      if (credentials != null) {
        channels.credentials(credentials);
      }
      options.user().apply(channels);
      channel =
          (shmDirectory == null ? channels : channels.shmDirectory(shmDirectory)).buildChannel();
    } catch (IllegalArgumentException e) { // of an address, which only the client reads
      throw CommandFailure.misuse(e.getMessage());
    } catch (IllegalStateException e) { // of a coordinator that does not name the nodes
      throw new CommandFailure(ExitCode.UNREACHABLE, e.getMessage());
    }
    final ClientMetrics metrics =
        (operation, index, route, code, durationNs) -> {
          if (!operation.isWriting() && route == Access.RPC) {
            callReads.incrementAndGet();
          }
        };
    final IndexClientBuilder clients =
        IndexClient.builder().channel(channel).metrics(metrics).deadline(timeout);
    client = (shmDirectory == null ? clients : clients.shmDirectory(shmDirectory)).build();
  }

  /** Whether a command with these options can use this connection; if so, adopts their timeout. */
  boolean isOf(ServerOptions options) {
    timeout = options.timeout();
    return server.equals(options.server())
        && Objects.equals(shmDirectory, options.shmDirectory())
        && identity.equals(options.identity());
  }

  /** The description of an index; empty if the index does not exist. */
  Optional<IndexDescription> describe(String index) {
    return describe(index, timeout.toNanos());
  }

  private Optional<IndexDescription> describe(String index, long timeoutNs) {
    final DescribeResponse response =
        limited(IndexGrpc.newBlockingStub(channel), timeoutNs)
            .describe(DescribeRequest.newBuilder().setIndex(index).build());
    return response.hasIndex() ? Optional.of(response.getIndex()) : Optional.empty();
  }

  /** The description of an index; throws if the index does not exist. */
  IndexDescription require(String index) {
    return describe(index)
        .orElseThrow(
            () ->
                new CommandFailure(
                    ExitCode.NOT_FOUND,
                    "no index is called '"
                        + index
                        + "' at "
                        + server
                        + ": '"
                        + IndexProgram.NAME
                        + " list' shows what there is, create makes one"));
  }

  /** The ordered view of an index; throws if the index does not exist or has no order. */
  OrderedIndex<ByteString, ByteString> requireOrdered(String index, String need) {
    return requireOrdered(require(index), need);
  }

  /** The ordered view of an index that was found; throws if it has no order. */
  OrderedIndex<ByteString, ByteString> requireOrdered(IndexDescription found, String need) {
    if (found.getKind() != IndexKind.ORDERED) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "index '"
              + found.getName()
              + "' is a "
              + IndexTable.kind(found)
              + " index and has no order, which "
              + need
              + " needs; '"
              + IndexProgram.NAME
              + " create NAME' makes an ordered one");
    }
    return ordered(found.getName());
  }

  /** The view of an index with boxes; throws if it is another one, or does not exist. */
  SpatialIndex<ByteString, ByteString> requireSpatial(String index, String need) {
    final IndexKind kind = require(index).getKind();
    if (kind != IndexKind.SPATIAL) {
      throw noBoxes(index, kind, need);
    }
    return spatial(index);
  }

  /** The failure of what needs boxes, of an index without. */
  static CommandFailure noBoxes(String index, IndexKind kind, String need) {
    return new CommandFailure(
        ExitCode.FAILED,
        "index '"
            + index
            + "' is of kind "
            + kind.name().toLowerCase(Locale.ROOT)
            + " and has no boxes, which "
            + need
            + " needs; '"
            + IndexProgram.NAME
            + " create NAME --kind spatial' makes one that has");
  }

  /** The descriptions of all indexes; the numbers of entries come from the leaders. */
  List<IndexDescription> list() {
    final long endNs = System.nanoTime() + timeout.toNanos();
    return ofAnyNode(stub -> stub.listIndexes(ListIndexesRequest.getDefaultInstance()))
        .getIndexesList()
        .stream()
        .map(index -> index.getLedElsewhere() ? counted(index, endNs) : index)
        .sorted(Comparator.comparing(IndexDescription::getName))
        .toList();
  }

  /** Asks the leader for the number of entries, unless the time is over; it may not answer. */
  private IndexDescription counted(IndexDescription index, long endNs) {
    final long leftNs = endNs - System.nanoTime();
    if (leftNs <= 0) {
      return index; // without a number of entries
    }
    try {
      return describe(index.getName(), leftNs)
          .map(led -> index.toBuilder().setEntries(led.getEntries()).clearLedElsewhere().build())
          .orElse(index);
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() != Status.Code.UNAVAILABLE
          && e.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED) {
        throw e;
      }
      return index;
    }
  }

  /** The state of the server; empty if the server is too old to report it. */
  Optional<DescribeServerResponse> describeServer() {
    try {
      return Optional.of(
          ofAnyNode(stub -> stub.describeServer(DescribeServerRequest.getDefaultInstance())));
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.UNIMPLEMENTED) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Makes the server take a snapshot, which may take longer than other calls. */
  SnapshotResponse snapshot() {
    return IndexAdminGrpc.newBlockingStub(channel)
        .withDeadlineAfter(SNAPSHOT_SECONDS, TimeUnit.SECONDS)
        .snapshot(SnapshotRequest.getDefaultInstance());
  }

  /** Copies the server's data directory, which has to be that of one server. */
  Backup backUp(Path target) throws IOException {
    return Backup.of(IndexAdminGrpc.newBlockingStub(channel), server, target);
  }

  /** Creates an index; false if it was there already, in the same kind and durability. */
  boolean create(String index, IndexKind kind, Durability durability) {
    return create(index, kind, durability, 0);
  }

  /**
   * Creates an index, as above.
   *
   * @param replicas wanted number of members in a cluster; 0 for the server's default
   */
  boolean create(String index, IndexKind kind, Durability durability, int replicas) {
    return limited(IndexAdminGrpc.newBlockingStub(channel))
        .createIndex(
            CreateIndexRequest.newBuilder()
                .setIndex(index)
                .setKind(kind)
                .setDurability(durability)
                .setReplicas(replicas)
                .build())
        .getCreated();
  }

  /** Creates an index of a kind unless there is one of this name; returns the kind that it has. */
  IndexKind orCreate(String index, IndexKind kind, Stdio stdio) {
    final Optional<IndexDescription> found = describe(index);
    if (found.isEmpty() && create(index, kind, Durability.DURABILITY_UNSPECIFIED)) {
      stdio.note(
          "created index '"
              + index
              + "', "
              + kind.name().toLowerCase(Locale.ROOT)
              + ": there was none of this name");
    }
    return found.isEmpty() ? kind : found.get().getKind();
  }

  /**
   * The kind of an index to write entries to that have boxes, or have none; creates the index if
   * there is none of this name.
   *
   * @throws CommandFailure if the entries of the index have boxes and these have not, or the other
   *     way round
   */
  IndexKind orCreate(String index, boolean boxes, Stdio stdio) {
    final IndexKind kind = orCreate(index, boxes ? IndexKind.SPATIAL : IndexKind.ORDERED, stdio);
    if (boxes && kind != IndexKind.SPATIAL) {
      throw noBoxes(index, kind, "an entry with one");
    }
    if (!boxes && kind == IndexKind.SPATIAL) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "index '" + index + "' is spatial: its entries have boxes, which --box names");
    }
    return kind;
  }

  /** The view of an index by its kind; its values begin with boxes if it is spatial. */
  KeyedIndex<ByteString, ByteString> keyed(String index, IndexKind kind) {
    return kind == IndexKind.ORDERED ? ordered(index) : hash(index);
  }

  /** The asynchronous view of an index by its kind, as above. */
  AsyncIndex<ByteString, ByteString> async(String index, IndexKind kind) {
    return kind == IndexKind.ORDERED ? ordered(index).async() : hash(index).async();
  }

  HashIndex<ByteString, ByteString> hash(String index) {
    return client.hash(index, Codec.byteString(), Codec.byteString()).deadline(timeout);
  }

  OrderedIndex<ByteString, ByteString> ordered(String index) {
    return client.ordered(index, Codec.byteString(), Codec.byteString()).deadline(timeout);
  }

  SpatialIndex<ByteString, ByteString> spatial(String index) {
    return client.spatial(index, Codec.byteString(), Codec.byteString()).deadline(timeout);
  }

  /** The topics of the server. */
  Topics topics() {
    return client.topics();
  }

  /** Drops an index; false if there was none. */
  boolean drop(String index) {
    return client.drop(index);
  }

  /** Reads of the client so far that went by calls, wholly or in part. */
  long callReads() {
    return callReads.get();
  }

  /**
   * Makes a call that any node can answer. After each attempt without an answer in time, the
   * channel tries another node; the limit grows with each attempt, up to the whole timeout.
   */
  private <R> R ofAnyNode(Function<IndexAdminBlockingStub, R> call) {
    final long endNs = System.nanoTime() + timeout.toNanos();
    long patienceNs = PATIENCE_NS;
    while (true) {
      final long leftNs = Math.max(1, endNs - System.nanoTime());
      final boolean isLast = !server.contains(",") || leftNs < 2 * patienceNs;
      try {
        return call.apply(
            limited(IndexAdminGrpc.newBlockingStub(channel), isLast ? leftNs : patienceNs));
      } catch (StatusRuntimeException e) {
        if (isLast || e.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED) {
          throw e;
        }
      }
      patienceNs += patienceNs / 2;
    }
  }

  /**
   * The stub with the timeout. Of several nodes, it tries one after the other until one serves the
   * call.
   */
  private <S extends AbstractStub<S>> S limited(S stub) {
    return limited(stub, timeout.toNanos());
  }

  private <S extends AbstractStub<S>> S limited(S stub, long timeoutNs) {
    final S limited = stub.withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS);
    return server.contains(",") ? limited.withWaitForReady() : limited;
  }

  @Override
  public void close() {
    client.close();
    channel.shutdownNow();
    try {
      channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The grant of a {@link DirectReader}: requests one, renews it if no successor of the server would
 * end it, and drops it when memory shows that it is over.
 *
 * <p>Used by one thread at a time.
 */
final class IndexGrant implements AutoCloseable {
  /** Interval at which a grant is renewed that no successor of the server would end. */
  static final long RENEWAL_NS = TimeUnit.SECONDS.toNanos(1);

  private final Channel channel;
  private final String index;
  private final long timeoutNs;
  private final int cachedNodes;
  private final Map<String, Fabric> fabrics; // by name
  private final GrantRequests requests; // null if there is no fabric
  private final Supplier<GrantRequest> request = this::request;
  private GrantedIndex granted; // null while reads go by calls
  private GateRequests gates; // of the members, requested or granted; null if none
  private final String obstacle; // of the fabrics that are missing; null if none is
  private long renewNs;

  /** True if a successor of the server has begun: the next call waits for a connection. */
  private boolean serverHasBegun;

  private long reads; // under all grants
  private long readsBefore; // the present one
  private long turns;

  /**
   * Creates it; makes no request yet.
   *
   * @param fabrics by name, closed with this
   * @param obstacle the reason why further fabrics are missing; null if none is
   */
  IndexGrant(
      Channel channel,
      String index,
      DirectContext context,
      Map<String, Fabric> fabrics,
      String obstacle) {
    this.channel = channel;
    this.index = index;
    this.timeoutNs = context.timeout().toNanos();
    this.cachedNodes = context.cachedNodes();
    this.fabrics = fabrics;
    this.obstacle = obstacle;
    final boolean any = !fabrics.isEmpty();
    this.requests = any ? new GrantRequests(channel, timeoutNs, System::nanoTime) : null;
  }

  /** Creates it, with the fabrics of the context that can be opened. */
  static IndexGrant open(Channel channel, String index, DirectContext context) {
    final Map<String, Fabric> fabrics = new LinkedHashMap<>();
    String obstacle = null;
    for (final String name : context.fabrics()) {
      try {
        fabrics.put(name, FabricProviders.open(name, context.fabricContext()));
      } catch (IOException e) {
        obstacle = obstacle == null ? e.getMessage() : obstacle + "; " + e.getMessage();
      }
    }
    return new IndexGrant(channel, index, context, fabrics, obstacle);
  }

  /**
   * Waits for the first grant, or the refusal.
   *
   * @param waitNs how long at most, from the request on: class loading does not count.
   */
  void await(long waitNs) {
    if (requests != null) {
      use(requests.poll(request), System.nanoTime() + timeoutNs);
      final long endNs = System.nanoTime() + waitNs;
      if (granted == null && gates == null) {
        use(requests.await(waitNs), System.nanoTime() + timeoutNs);
      }
      if (granted == null && gates != null && gates.await(endNs - System.nanoTime())) {
        connect(gates.grant(), System.nanoTime() + timeoutNs);
      }
    }
  }

  /**
   * Uses a new grant, if one has come, and makes the next request when it is due. Returns whether a
   * grant has come.
   */
  boolean poll(long nowNs, long deadlineNs) {
    if (granted == null && gates != null) {
      final boolean come = gates.areDone();
      if (come) {
        connect(gates.grant(), deadlineNs);
      }
      return come;
    }
    return requests != null && isDue(nowNs) && ask(deadlineNs);
  }

  /** Whether a grant is to be requested: the first one, one of a further segment, or a renewal. */
  private boolean isDue(long nowNs) {
    return granted == null
        || granted.lacksSegment()
        || (!granted.outlivesServer() && nowNs - renewNs >= 0);
  }

  /**
   * Requests a grant, and uses the answer. If the server refuses, drops the memory unless that
   * outlives the server: no successor would end the grant.
   */
  private boolean ask(long deadlineNs) {
    final long refusals = requests.refusals();
    final boolean come = use(requests.poll(request), deadlineNs);
    if (granted != null && !granted.outlivesServer() && requests.refusals() != refusals) {
      turns++;
      leave();
    }
    return come;
  }

  private GrantRequest request() {
    final GrantRequest.Builder builder =
        GrantRequest.newBuilder()
            .setIndex(index)
            .addAllKinds(GrantedIndex.KINDS)
            .setLooksAtGates(true);
    builder.addAllFabrics(hints());
    if (granted != null) {
      builder.setDomain(granted.domain());
    }
    return builder.build();
  }

  private List<FabricHint> hints() {
    return fabrics.entrySet().stream()
        .map(
            entry ->
                FabricHint.newBuilder()
                    .setFabric(entry.getKey())
                    .setHint(ByteString.copyFrom(entry.getValue().hint()))
                    .build())
        .toList();
  }

  /** Uses a grant; returns false if it is null. */
  private boolean use(GrantResponse grant, long deadlineNs) {
    if (grant == null) {
      return false;
    }
    try {
      if (granted != null && granted.isOf(grant)) {
        granted.learn(grant);
        served();
        return true;
      }
    } catch (IOException | RuntimeException e) { // RuntimeException: a bad descriptor
      refused(grant, e.getMessage());
      return true;
    }
    if (granted != null) {
      turns++; // another server, or another index of that name
    }
    leave();
    if (grant.getMembersCount() == 0) {
      connect(grant, deadlineNs);
    } else {
      gates = new GateRequests(channel, grant, hints(), timeoutNs);
    }
    return true;
  }

  /** Connects to the memory of a grant, and to the gates of members that have answered. */
  private void connect(GrantResponse grant, long deadlineNs) {
    readsBefore = reads;
    GrantedGates opened = null;
    String failure = "an error"; // which the caller gets
    try {
      final Fabric fabric = fabrics.get(grant.getFabric());
      if (fabric == null) {
        throw new IOException("not asked for: fabric=" + grant.getFabric());
      }
      // Half of the time is left for a call.
      final long connectNs = Math.max(1, (deadlineNs - System.nanoTime()) / 2);
      final long limitNs =
          gates == null ? timeoutNs / 2 : Math.min(timeoutNs / 2, GrantedGates.LIMIT_NS);
      opened = gates == null ? null : gates.connect(fabrics, connectNs, limitNs);
      granted =
          GrantedIndex.connect(
              fabric, grant, opened, new GrantedIndex.Limits(connectNs, limitNs, cachedNodes));
      served();
    } catch (IOException | RuntimeException e) { // RuntimeException: a bad descriptor
      failure = e.getMessage();
    } finally {
      if (granted == null) {
        if (opened != null) {
          opened.close();
        }
        refused(grant, failure);
      }
    }
  }

  private void served() {
    requests.served();
    renewNs = System.nanoTime() + RENEWAL_NS;
  }

  private void refused(GrantResponse grant, String reason) {
    leave();
    requests.release(grant.getToken(), GrantedIndex.leader(grant));
    requests.refused(reason);
  }

  /** The memory of the index; null while reads go by calls. */
  GrantedIndex granted() {
    return granted;
  }

  /** Counts keys that were read under the grant. */
  void served(long keys) {
    reads += keys;
  }

  /** Leaves the grant: memory was found {@link ReadResult#CLOSED} or {@link ReadResult#LOST}. */
  void end(ReadResult result) {
    turns++;
    if (granted.hasSuccessor()) {
      reconnect();
    }
    final String gate = result == ReadResult.CLOSED ? granted.obstacle() : null;
    leave();
    final String reason =
        gate != null ? gate : "memory is " + (result == ReadResult.LOST ? "lost" : "closed");
    if (reads > readsBefore) {
      requests.ended(reason);
    } else {
      requests.refused(reason); // a grant that never served is not asked for in a loop
    }
  }

  /**
   * Resets the channel's back-off, so that the next call finds the successor at once: the channel
   * may have tried to connect when there was no server, and would pause for up to two minutes.
   */
  private void reconnect() {
    serverHasBegun = true;
    if (channel instanceof ManagedChannel managed) {
      managed.resetConnectBackoff();
    }
  }

  /** Whether the next call waits for a connection: true once after a successor has begun. */
  boolean awaitsServer() {
    final boolean awaits = serverHasBegun;
    serverHasBegun = false; // if it has ended instead, one call detects that
    return awaits;
  }

  private void leave() {
    if (granted != null) {
      requests.release(granted.token(), granted.leader());
      granted.close();
      granted = null;
    }
    if (gates != null) {
      gates.close();
      gates = null;
    }
  }

  /** The reason why reads go by calls; null while there is a grant. */
  String obstacle() {
    if (granted != null) {
      return null;
    }
    return requests != null ? requests.obstacle() : obstacle;
  }

  /** Number of keys read under grants. */
  long reads() {
    return reads;
  }

  /**
   * Number of grants that ended because memory was closed or lost, or another index took its place.
   */
  long turns() {
    return turns;
  }

  @Override
  public void close() {
    if (granted == null && gates != null) {
      requests.release(gates.grant().getToken(), GrantedIndex.leader(gates.grant()));
    }
    leave();
    if (requests != null) {
      requests.close();
    }
    fabrics.values().forEach(Fabric::close);
  }
}

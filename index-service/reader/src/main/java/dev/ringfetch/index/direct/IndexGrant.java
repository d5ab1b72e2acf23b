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
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The grant of a {@link DirectReader}: asks for one, asks again where no successor of the server
 * would end it, and leaves it where memory says that it is over.
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
  private final Map<String, Fabric> fabrics = new LinkedHashMap<>(); // by name
  private final GrantRequests requests; // null where there is no fabric
  private final Supplier<GrantRequest> request = this::request;
  private GrantedIndex granted; // null while reads go by calls
  private String obstacle;
  private long renewNs;

  /** Whether the next call waits for a connection: a successor of the server has begun. */
  private boolean serverHasBegun;

  private long reads; // under all grants
  private long readsBefore; // the present one
  private long turns;

  IndexGrant(Channel channel, String index, DirectContext context) {
    this.channel = channel;
    this.index = index;
    this.timeoutNs = context.timeout().toNanos();
    this.cachedNodes = context.cachedNodes();
    for (final String name : context.fabrics()) {
      try {
        fabrics.put(name, FabricProviders.open(name, context.fabricContext()));
      } catch (IOException e) {
        obstacle = obstacle == null ? e.getMessage() : obstacle + "; " + e.getMessage();
      }
    }
    final boolean any = !fabrics.isEmpty();
    this.requests = any ? new GrantRequests(channel, timeoutNs, System::nanoTime) : null;
  }

  /** Waits for the first grant, or the reason why there is none, for the timeout at most. */
  void await() {
    if (requests != null) {
      final long deadlineNs = System.nanoTime() + timeoutNs;
      use(requests.poll(request), deadlineNs);
      if (granted == null) {
        use(requests.await(timeoutNs), deadlineNs);
      }
    }
  }

  /** Uses a grant that has come, and asks for one when it is time. */
  void poll(long nowNs, long deadlineNs) {
    if (requests != null && (granted == null || granted.lacksSegment())) {
      use(requests.poll(request), deadlineNs);
    } else if (requests != null && !granted.outlivesServer() && nowNs - renewNs >= 0) {
      renew(deadlineNs);
    }
  }

  /** Asks whether the server is still the one of the grant, which no successor would end. */
  private void renew(long deadlineNs) {
    final long refusals = requests.refusals();
    use(requests.poll(request), deadlineNs);
    if (granted != null && requests.refusals() != refusals) {
      turns++;
      leave();
    }
  }

  private GrantRequest request() {
    final GrantRequest.Builder builder =
        GrantRequest.newBuilder().setIndex(index).addAllKinds(GrantedIndex.KINDS);
    fabrics.forEach(
        (name, fabric) ->
            builder.addFabrics(
                FabricHint.newBuilder()
                    .setFabric(name)
                    .setHint(ByteString.copyFrom(fabric.hint()))));
    if (granted != null) {
      builder.setDomain(granted.domain());
    }
    return builder.build();
  }

  /** Uses a grant, unless it is null. */
  private void use(GrantResponse grant, long deadlineNs) {
    if (grant == null) {
      return;
    }
    try {
      if (granted != null && granted.isOf(grant)) {
        granted.learn(grant);
      } else {
        if (granted != null) {
          turns++; // another server, or another index of that name
        }
        leave();
        readsBefore = reads;
        final Fabric fabric = fabrics.get(grant.getFabric());
        if (fabric == null) {
          throw new IOException("not asked for: fabric=" + grant.getFabric());
        }
        // Half of the time is left for a call.
        final long connectNs = Math.max(1, (deadlineNs - System.nanoTime()) / 2);
        granted =
            GrantedIndex.connect(
                fabric, grant, new GrantedIndex.Limits(connectNs, timeoutNs / 2, cachedNodes));
      }
      requests.served();
      renewNs = System.nanoTime() + RENEWAL_NS;
    } catch (IOException | RuntimeException e) { // the latter of a descriptor that misleads
      leave();
      requests.release(grant.getToken());
      requests.refused(e.getMessage());
    }
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
    leave();
    final String reason = "memory is " + (result == ReadResult.LOST ? "lost" : "closed");
    if (reads > readsBefore) {
      requests.ended(reason);
    } else {
      requests.refused(reason); // a grant that never served is not asked for in a loop
    }
  }

  /**
   * Lets the next call find the server that has closed the memory: the channel may have tried to
   * connect while there was none, and would pause before it tries again, up to two minutes.
   */
  private void reconnect() {
    serverHasBegun = true;
    if (channel instanceof ManagedChannel managed) {
      managed.resetConnectBackoff();
    }
  }

  /** Whether a call waits for a connection: true once after a successor of the server has begun. */
  boolean awaitsServer() {
    final boolean awaits = serverHasBegun;
    serverHasBegun = false; // where it has ended instead, one call learns so
    return awaits;
  }

  private void leave() {
    if (granted != null) {
      requests.release(granted.token());
      granted.close();
      granted = null;
    }
  }

  /** Why reads go by calls; null while there is a grant. */
  String obstacle() {
    if (granted != null) {
      return null;
    }
    return requests != null ? requests.obstacle() : obstacle;
  }

  /** Keys that were read under grants. */
  long reads() {
    return reads;
  }

  /** Grants that were left because memory was closed or lost, or another index took its place. */
  long turns() {
    return turns;
  }

  @Override
  public void close() {
    leave();
    if (requests != null) {
      requests.close();
    }
    fabrics.values().forEach(Fabric::close);
  }
}

package dev.ringfetch.index.direct;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateRequest;
import dev.ringfetch.index.v1.GateResponse;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.ReleaseRequest;
import io.grpc.Channel;
import io.grpc.Status;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The requests for the gates of a replicated index's members, one to each, all under way together.
 *
 * <p>Used by one thread at a time; nothing but {@link #await} blocks.
 */
final class GateRequests implements AutoCloseable {
  private final Channel channel;
  private final GrantResponse grant;
  private final long timeoutNs;
  private final List<Asked> asked = new ArrayList<>();

  /**
   * A request.
   *
   * @param token of the grant
   */
  private record Asked(
      GateMember member, ByteString token, ListenableFuture<GateResponse> answer) {}

  /**
   * Asks all members of a grant.
   *
   * @param grant of the leader
   * @param hints of the fabrics that can reach gates
   * @param timeoutNs of a request
   */
  GateRequests(Channel channel, GrantResponse grant, List<FabricHint> hints, long timeoutNs) {
    this.channel = channel;
    this.grant = grant;
    this.timeoutNs = timeoutNs;
    for (final GateMember member : grant.getMembersList()) {
      final ByteString token = GrantRequests.newToken();
      asked.add(
          new Asked(
              member,
              token,
              stub(member)
                  .grantGates(
                      GateRequest.newBuilder()
                          .setMember(member)
                          .setGroup(grant.getGroup())
                          .addAllFabrics(hints)
                          .setToken(token)
                          .build())));
    }
  }

  private DirectAccessGrpc.DirectAccessFutureStub stub(GateMember member) {
    return DirectAccessGrpc.newFutureStub(channel)
        .withOption(NodeAddress.KEY, member.getAddress())
        .withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS);
  }

  /** The leader's grant of memory. */
  GrantResponse grant() {
    return grant;
  }

  /** Whether all have answered. */
  boolean areDone() {
    for (final Asked one : asked) {
      if (!one.answer.isDone()) {
        return false;
      }
    }
    return true;
  }

  /** Waits up to this time until all have answered; false if they have not, or if interrupted. */
  boolean await(long waitNs) {
    final long endNs = System.nanoTime() + waitNs;
    for (final Asked one : asked) {
      if (!isAnswered(one, Math.max(0, endNs - System.nanoTime()))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isAnswered(Asked one, long waitNs) {
    try {
      one.answer.get(waitNs, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) { // connect reports it
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Connects to the gates, once all members have answered.
   *
   * @param connectNs how long connections to all of them may take
   * @param limitNs how long READs of gates that are not mapped may take
   * @throws IOException if a member has refused, or its gates cannot be reached
   */
  GrantedGates connect(Map<String, Fabric> fabrics, long connectNs, long limitNs)
      throws IOException {
    final long endNs = System.nanoTime() + connectNs;
    final List<GrantedGates.Reached> reached = new ArrayList<>();
    boolean connected = false;
    try {
      for (final Asked one : asked) {
        final long leftNs = Math.max(1, endNs - System.nanoTime());
        reached.add(connect(one, fabrics, leftNs, limitNs));
      }
      final GrantedGates gates = new GrantedGates(grant.getGroupEpoch(), reached, limitNs);
      connected = true;
      return gates;
    } finally {
      if (!connected) {
        GrantedGates.close(reached);
      }
    }
  }

  private static GrantedGates.Reached connect(
      Asked one, Map<String, Fabric> fabrics, long connectNs, long limitNs) throws IOException {
    final GateResponse answer = answer(one);
    final Fabric fabric = fabrics.get(answer.getFabric());
    if (fabric == null) {
      throw new IOException("not asked for: fabric=" + answer.getFabric());
    }
    RemoteDomain domain = null;
    GrantedGates.Reached reached = null;
    try {
      domain =
          fabric.connectDomain(
              answer.getDomain().toByteArray(), one.token.toByteArray(), connectNs);
      reached = GrantedGates.reach(domain, one.member, answer, limitNs);
      return reached;
    } catch (IOException e) {
      throw notReached(one, e.getMessage(), e);
    } finally {
      if (reached == null && domain != null) {
        domain.close();
      }
    }
  }

  private static IOException notReached(Asked one, String reason, Exception cause) {
    return new IOException(
        "the gate of a member is not reached: " + one.member.getAddress() + ": " + reason, cause);
  }

  private static GateResponse answer(Asked one) throws IOException {
    try {
      return one.answer.get();
    } catch (ExecutionException e) {
      final Status status = Status.fromThrowable(e.getCause());
      throw notReached(one, status.getCode() + ": " + status.getDescription(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Cancels the requests that are under way, and releases the grants. */
  @Override
  public void close() {
    for (final Asked one : asked) {
      one.answer.cancel(true);
      final var unused =
          stub(one.member).release(ReleaseRequest.newBuilder().setToken(one.token).build());
    }
  }
}

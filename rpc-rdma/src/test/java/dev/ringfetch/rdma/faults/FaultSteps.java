package dev.ringfetch.rdma.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.Load;
import dev.ringfetch.system.SystemChild;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What tests of faults do to a channel, and look for afterwards. */
final class FaultSteps {
  /** Calls that are never answered. */
  static final int HANGING = 20;

  /**
   * How long a fault may go unnoticed. What a kernel or a device tells comes within milliseconds;
   * at the worst the probes of an idle connection find out, after 2.5 s (docs/rdma.md), and the
   * processor is emulated.
   */
  static final int LIMIT_S = 5;

  /** How long anything else may take on a busy machine: starts, connects, pauses between them. */
  static final int WAIT_S = 60;

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private FaultSteps() {}

  /** Something bad. */
  @FunctionalInterface
  interface Fault {
    void strike() throws Exception;
  }

  /**
   * Starts calls on a channel with a ring, strikes, and checks how they end: the calls that hang,
   * and others that the fault hits, with UNAVAILABLE within {@link #LIMIT_S}.
   */
  static void strike(String name, SystemChild server, RingChannel channel, Fault fault)
      throws Exception {
    assertTrue(channel.transport().isRing(), () -> "no ring: " + channel.transport());
    long hanging = server.count("hanging") + HANGING;
    long ring = channel.ringCalls();
    long grpc = channel.grpcCalls();
    try (Load load = new Load(channel).hang(HANGING).start(1)) {
      Await.until("ring calls", WAIT_S, () -> channel.ringCalls() > ring + FaultChild.CALLS);
      Await.until("calls that hang", WAIT_S, () -> server.count("hanging") == hanging);
      assertEquals(0, load.unavailable());
      assertEquals(grpc, channel.grpcCalls(), "calls over gRPC before the fault");
      load.mark();
      fault.strike();
      Await.until("the end of calls that hang", LIMIT_S, () -> load.hanging() == 0);
      load.stop(WAIT_S);
      System.out.printf(
          "%s: ring calls=%d, %d calls under way, the last ended after %d ms, %d UNAVAILABLE%n",
          name,
          channel.ringCalls() - ring,
          load.pendingAtMark(),
          load.lastEndMs(),
          load.unavailable());
      assertTrue(load.pendingAtMark() >= HANGING, "calls under way");
      assertTrue(load.lastEndMs() < 1_000L * LIMIT_S, "the last ended too late");
      assertTrue(load.unavailable() >= HANGING, "calls that ended UNAVAILABLE");
      assertEquals(List.of(), load.failures());
    }
  }

  /** Waits until verbs carries the calls again. */
  static void awaitVerbs(String name, RingChannel channel) throws Exception {
    long startNs = System.nanoTime();
    String last = "";
    while (!"verbs".equals(channel.transport().name()) || !"OK".equals(last)) {
      assertTrue(Await.millisSince(startNs) < 1_000L * WAIT_S, last + ": " + channel);
      last = FaultChild.call(channel, 1);
      LockSupport.parkNanos(PAUSE_NS);
    }
    long ring = channel.ringCalls();
    long grpc = channel.grpcCalls();
    assertEquals("OK", FaultChild.call(channel, 1));
    assertEquals(ring + 1, channel.ringCalls());
    assertEquals(grpc, channel.grpcCalls());
    System.out.printf("%s: on verbs after %d ms%n", name, Await.millisSince(startNs));
  }

  /** Ends channels, which has its end. */
  static void end(RingChannel... channels) throws InterruptedException {
    for (RingChannel channel : channels) {
      channel.shutdownNow();
    }
    for (RingChannel channel : channels) {
      assertTrue(channel.awaitTermination(WAIT_S, TimeUnit.SECONDS), channel::toString);
    }
  }

  /** Makes calls while there is no ring to be had: all are answered over gRPC. */
  static void assertServedByGrpc(RingChannel channel) {
    long ring = channel.ringCalls();
    long grpc = channel.grpcCalls();
    for (int i = 0; i < HANGING; i++) {
      assertEquals("OK", FaultChild.call(channel, i));
    }
    assertEquals(ring, channel.ringCalls());
    assertEquals(grpc + HANGING, channel.grpcCalls());
    assertEquals("grpc", channel.transport().name());
  }
}

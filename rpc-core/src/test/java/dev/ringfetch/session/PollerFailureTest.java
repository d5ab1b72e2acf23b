package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.handshake.PolledFabric;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A poller that cannot go on takes its sessions with it: nobody waits for what it would bring. */
@Timeout(60)
class PollerFailureTest {
  private static final int RING = 1024;

  /** A doorbell that has broken. */
  private static final class Broken implements Doorbell {
    boolean closed;

    @Override
    public int await(long timeoutNs) throws IOException {
      throw new IOException("broken by a test");
    }

    @Override
    public int poll() throws IOException {
      return await(0);
    }

    @Override
    public void wakeup() {}

    @Override
    public void close() {
      closed = true;
    }
  }

  /** Whatever it was may be of one session, and of a moment. */
  @Test
  void pollerOutlivesFaultsAndWantOfMemory() {
    class Failing implements Doorbell {
      private Poller sleeper;
      private int awaits;

      @Override
      public int await(long timeoutNs) {
        switch (++awaits) {
          case 1 -> throw new InternalError("by a test");
          case 2 -> throw new OutOfMemoryError("by a test");
          default -> sleeper.close();
        }
        return 0;
      }

      @Override
      public int poll() {
        return 0;
      }

      @Override
      public void wakeup() {}

      @Override
      public void close() {}
    }

    Failing doorbell = new Failing();
    doorbell.sleeper = new Poller(doorbell, new SessionContext().spinNs(0));
    doorbell.sleeper.run();
    assertEquals(3, doorbell.awaits);
  }

  @Test
  void sessionsOfABrokenDoorbellEnd() {
    HeapFabric fabric = new HeapFabric(ArenaDescriptor.length(RING, RING));
    SessionContext context = new SessionContext().spinNs(0);
    Broken doorbell = new Broken();
    Poller poller = new Poller(doorbell, context);
    List<String> ends = new ArrayList<>();
    ClientSession session =
        new ClientSession(
            new SessionConnection(
                fabric.client(), new Geometry(RING, RING, RING, 4, 1, 0, 0), poller),
            context,
            (ended, reason) -> ends.add(reason));
    poller.add(session.entry);
    List<Outcome> outcomes = new ArrayList<>();
    ClientStream stream = session.open();
    stream.outbound().addLong(1);
    stream.prepare(
        (closed, outcome) -> outcomes.add(outcome),
        FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX,
        0,
        Stream.NO_DEADLINE,
        RING);
    session.send(stream);

    poller.run(); // in this thread: it ends

    assertEquals(List.of("poller failed: java.io.IOException: broken by a test"), ends);
    assertEquals(List.of(Outcome.SESSION_ENDED), outcomes);
    assertTrue(doorbell.closed);
    assertTrue(fabric.client().isClosed());
  }

  /** Of several doorbells, the first breaks at once. */
  private static FabricProvider provider(Doorbell... doorbells) throws IOException {
    Fabric fabric = mock(Fabric.class);
    when(fabric.name()).thenReturn("broken");
    List<Doorbell> left = new ArrayList<>(List.of(doorbells));
    when(fabric.openDoorbell()).thenAnswer(invocation -> left.remove(0));
    FabricProvider provider = mock(FabricProvider.class);
    when(provider.open(any())).thenReturn(fabric);
    return provider;
  }

  private static PolledFabric open(FabricProvider provider, int pollers) throws IOException {
    return PolledFabric.open(
        provider, new FabricContext(), new SessionContext().spinNs(0), pollers, "failing");
  }

  @Test
  void failedPollerGetsNoFurtherSession() throws Exception {
    HeapDoorbell whole = new HeapDoorbell();
    try (PolledFabric polled = open(provider(new Broken(), whole), 2)) {
      Poller next;
      Poller after;
      do { // both take their turn until one has failed
        next = polled.nextPoller();
        after = polled.nextPoller();
      } while (next != after);
      for (int i = 0; i < 4; i++) {
        assertSame(whole, polled.nextPoller().doorbell());
      }
    }
  }

  @Test
  void fabricWithoutAPollerSaysSo() throws Exception {
    try (PolledFabric polled = open(provider(new Broken()), 1)) {
      IOException refusal =
          assertThrows(
              IOException.class,
              () -> {
                while (true) {
                  polled.nextPoller();
                }
              });
      assertEquals(
          "no thread serves the fabric any more: fabric=broken pollers=1", refusal.getMessage());
    }
  }

  @Test
  void errorWhileOpeningLeavesNothing() throws Exception {
    HeapDoorbell first = new HeapDoorbell();
    Fabric fabric = mock(Fabric.class);
    when(fabric.openDoorbell()).thenReturn(first).thenThrow(new OutOfMemoryError("by a test"));
    FabricProvider provider = mock(FabricProvider.class);
    when(provider.open(any())).thenReturn(fabric);
    assertThrows(OutOfMemoryError.class, () -> open(provider, 2));
    verify(fabric).close();
    assertTrue(first.isClosed());
  }

  /** It came while the poller was at its end. */
  @Test
  void sessionOfAPollerThatHasEndedEnds() {
    HeapFabric fabric = new HeapFabric(ArenaDescriptor.length(RING, RING));
    SessionContext context = new SessionContext().spinNs(0);
    Poller poller = new Poller(new Broken(), context);
    poller.run();
    List<String> ends = new ArrayList<>();
    ClientSession session =
        new ClientSession(
            new SessionConnection(
                fabric.client(), new Geometry(RING, RING, RING, 4, 1, 0, 0), poller),
            context,
            (ended, reason) -> ends.add(reason));
    poller.add(session.entry);
    assertEquals(List.of("poller has ended"), ends);
  }
}

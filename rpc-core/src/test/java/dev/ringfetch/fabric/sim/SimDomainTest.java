package dev.ringfetch.fabric.sim;

import static dev.ringfetch.fabric.DomainSteps.SIZE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;

/** The simulator shows what is not granted, and what is granted only. */
class SimDomainTest {
  private static final int ROUNDS = 300;
  private static final byte[] TOKEN = FabricHarness.token("a");

  private final long seed = Long.getLong("ringfetch.seed", 1);
  private SimNetwork network;
  private SimFabric owner;
  private Domain domain;
  private DomainSegment segment;
  private RemoteDomain remote;
  private MemoryRegion local;

  private void open(SimContext context, DomainContext domainContext) throws IOException {
    network = new SimNetwork(new Timeline(seed), context);
    owner = network.open();
    open(owner, domainContext);
  }

  private void open(SimFabric process, DomainContext domainContext) throws IOException {
    domain = process.openDomain(domainContext.rights(Rights.ATOMIC));
    segment = domain.grow(SIZE);
    domain.admit(process.hint(), TOKEN);
    remote = network.open().connectDomain(domain.descriptor(), TOKEN, 0);
    remote.attach(segment.descriptor());
    local = remote.scratch(SIZE);
  }

  private static SimContext card() {
    return new SimContext().loadStore(false);
  }

  private long[] completion() {
    List<long[]> all = new ArrayList<>();
    remote.completions().poll((id, status, value) -> all.add(new long[] {id, status, value}), 1);
    return all.get(0);
  }

  private int count(LongPredicate round) {
    int count = 0;
    for (long i = 1; i <= ROUNDS; i++) {
      count += round.test(i) ? 1 : 0;
    }
    return count;
  }

  /** Whether a READ that was posted behind a WRITE returns what was there before. */
  private boolean isStale(long value) {
    local.putLong(0, value);
    remote.cork();
    remote.write(0, 0, local, 0, 8, QueuePair.UNSIGNALED);
    remote.read(0, 0, local, 64, 8, value);
    remote.uncork();
    assertEquals(value, completion()[0]);
    return local.getLong(64) != value;
  }

  @Test
  void readPassesWritesUnlessGranted() throws IOException {
    open(card(), new DomainContext());
    assertEquals(0, count(this::isStale), "seed=" + seed);
    open(card().readAfterWrite(false), new DomainContext());
    assertFalse(remote.capabilities().readAfterWrite());
    assertTrue(count(this::isStale) > ROUNDS / 10, "seed=" + seed);
  }

  /** Whether the later of two READs returns a word that is older than the earlier one's. */
  private boolean isBackwards(long value) {
    remote.cork();
    remote.read(0, 4096, local, 0, 8, QueuePair.UNSIGNALED);
    remote.read(0, 0, local, 64, 8, value);
    remote.uncork();
    network
        .timeline()
        .after(
            network.timeline().random().nextLong(400),
            "owner",
            () -> {
              segment.region().putLong(0, value);
              segment.region().putLongRelease(4096, value);
              segment.region().fullFence();
            });
    assertEquals(value, completion()[0]);
    return local.getLong(64) < local.getLong(0);
  }

  @Test
  void readPassesReadsUnlessGranted() throws IOException {
    open(card(), new DomainContext());
    assertEquals(0, count(this::isBackwards), "seed=" + seed);
    open(card().readAfterRead(false), new DomainContext());
    assertFalse(remote.capabilities().readAfterRead());
    assertTrue(count(this::isBackwards) > 0, "seed=" + seed);
  }

  /** Whether a READ returns a part of what the owner stores meanwhile, and which. */
  private boolean isTorn(long value, boolean lowFirst) {
    remote.read(0, 0, local, 0, 256, value);
    network
        .timeline()
        .after(
            network.timeline().random().nextLong(400),
            "owner",
            () -> {
              for (int i = 0; i < 256; i += 8) {
                segment.region().putLong(i, value);
              }
              segment.region().fullFence();
            });
    completion();
    for (int i = 8; i < 256; i += 8) {
      long before = local.getLong(i - 8);
      long after = local.getLong(i);
      if (lowFirst ? before > after : before != after) {
        return true;
      }
    }
    return false;
  }

  @Test
  void readTearsAsItsAtomicityAllows() throws IOException {
    open(card().readAtomicity(ReadAtomicity.LINE), new DomainContext());
    assertEquals(0, count(value -> isTorn(value, true)), "seed=" + seed);
    assertTrue(count(value -> isTorn(value + ROUNDS, false)) > 0, "seed=" + seed);
    open(card().readAtomicity(ReadAtomicity.NONE), new DomainContext());
    assertTrue(count(value -> isTorn(value, true)) > 0, "seed=" + seed);
  }

  /** How often an observer at the owner sees the last word of a WRITE before the first. */
  private int lastBeforeFirst() {
    int[] count = {0};
    for (int i = 1; i <= ROUNDS; i++) {
      final long value = i;
      for (int at = 0; at < 256; at += 8) {
        local.putLong(at, value);
      }
      remote.write(0, 0, local, 0, 256, value);
      network
          .timeline()
          .after(
              network.timeline().random().nextLong(600),
              "observer",
              () -> {
                if (segment.region().getLong(248) == value
                    && segment.region().getLong(0) != value) {
                  count[0]++;
                }
              });
      completion();
    }
    return count[0];
  }

  @Test
  void writeIsPlacedInItsOrder() throws IOException {
    open(card().writeOrder(WriteOrder.ASCENDING), new DomainContext());
    assertEquals(0, lastBeforeFirst(), "seed=" + seed);
    open(card().writeOrder(WriteOrder.NONE), new DomainContext());
    assertTrue(lastBeforeFirst() > 0, "seed=" + seed);
  }

  @Test
  void completionOfWriteProvesNothing() throws IOException {
    open(card().preemption(() -> {}), new DomainContext());
    int early = 0;
    for (long i = 1; i <= ROUNDS; i++) {
      local.putLong(4088, i);
      remote.write(0, 0, local, 0, 4096, i);
      boolean[] done = {false};
      while (!done[0]) {
        assertTrue(network.step());
        remote.completions().poll((id, status, value) -> done[0] = true, 1);
      }
      early += segment.region().getLong(4088) == i ? 0 : 1;
      local.putLong(4088, -1); // the caller's again
      while (network.step()) {}
      assertEquals(i, segment.region().getLong(4088), "seed=" + seed);
    }
    assertTrue(early > 0, "seed=" + seed);
  }

  @Test
  void heldWritesWait() throws IOException {
    open(card().preemption(() -> {}), new DomainContext());
    SimFabric peer = network.open();
    domain.admit(peer.hint(), FabricHarness.token("b"));
    RemoteDomain held = peer.connectDomain(domain.descriptor(), FabricHarness.token("b"), 0);
    held.attach(segment.descriptor());
    long untilNs = network.timeline().nowNs() + 1_000_000;
    peer.holdWritesUntil(untilNs);
    local.putLong(0, 9);
    held.write(0, 0, local, 0, 8, QueuePair.UNSIGNALED);
    while (segment.region().getLong(0) != 9) {
      assertTrue(network.step());
    }
    assertTrue(network.timeline().nowNs() >= untilNs);
  }

  @Test
  void sharedMemoryOutlivesItsProcessUntilTheGateMoves() throws IOException {
    DirectRegion page = new DirectRegion(GateDescriptor.LENGTH);
    network = new SimNetwork(new Timeline(seed), new SimContext());
    owner = network.open();
    GatePage gate = owner.openGate(page);
    gate.move(1);
    open(owner, new DomainContext().gate(gate, 1));
    segment.region().putLongRelease(0, 77);
    DomainSegment later = domain.grow(SIZE);
    later.region().putLongRelease(8, 78);
    owner.kill(true);
    GateView seen = new GateView(remote.view(RemoteDomain.GATE));
    assertTrue(seen.isOpen(1));
    assertEquals(77, remote.view(0).getLongAcquire(0));
    assertEquals(1, remote.attach(later.descriptor()));
    remote.read(1, 8, local, 0, 8, 1);
    assertEquals(QueuePair.SUCCESS, completion()[1]);
    assertEquals(78, local.getLong(0));
    assertFalse(remote.isRevoked());
    assertThrows(IOException.class, () -> domain.grow(SIZE));

    GatePage successors = network.open().openGate(page);
    assertThrows(IllegalArgumentException.class, () -> successors.move(1));
    successors.move(2);
    assertFalse(seen.isOpen(1));
    assertTrue(seen.isOpen(2));
  }

  @Test
  void storesThatWereNotVisibleAreLostWithTheMachine() throws IOException {
    open(new SimContext().preemption(() -> {}), new DomainContext());
    segment.region().putLongRelease(0, 77);
    owner.kill(false);
    assertEquals(0, remote.view(0).getLongAcquire(0));
  }

  @Test
  void cardsConnectionEndsWithItsProcess() throws IOException {
    open(card().preemption(() -> {}), new DomainContext());
    owner.kill(true);
    remote.read(0, 0, local, 0, 64, 5);
    while (network.step()) {}
    assertTrue(remote.isRevoked());
    assertEquals(QueuePair.CLOSED, remote.read(0, 0, local, 0, 64, 6));
    assertThrows(IOException.class, () -> remote.attach(segment.descriptor()));
    assertEquals(5, completion()[0]);
  }
}

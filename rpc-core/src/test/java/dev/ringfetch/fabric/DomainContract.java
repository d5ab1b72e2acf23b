package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.DomainSteps.SIZE;
import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.token;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DomainSteps.Peer;
import java.io.IOException;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Domains: which peers reach them, until when, and which descriptors lead there. */
public abstract class DomainContract extends FabricContract {
  private DomainSteps steps;

  @BeforeEach
  void makeSteps() {
    steps = new DomainSteps(harness);
  }

  @Test
  void segmentsAreZeroedNumberedAndApart() throws IOException {
    Domain domain = steps.open(Rights.WRITE);
    RemoteDomain remote = steps.connect(domain).remote();
    int[] lengths = {64, SIZE, SIZE + 64};
    for (int i = 0; i < lengths.length; i++) {
      DomainSegment segment = domain.grow(lengths[i]);
      assertEquals(i, segment.number());
      assertEquals(lengths[i], segment.length());
      assertEquals(lengths[i], segment.region().length());
      assertArrayEquals(new byte[lengths[i]], all(segment.region()));
      assertEquals(i, remote.attach(segment.descriptor()));
      assertEquals(i, remote.attach(segment.descriptor()), "attached twice");
      assertEquals(lengths[i], remote.length(i));
      segment.region().putLongRelease(lengths[i] - 8, 100 + i);
      segment.region().fullFence();
    }
    for (int i = 0; i < lengths.length; i++) {
      assertEquals(100 + i, steps.readWord(remote, i, lengths[i] - 8));
      assertEquals(i == 0 ? 100 : 0, steps.readWord(remote, i, 56));
    }
    remote.detach(1);
    remote.detach(1);
    remote.detach(99);
    assertThrows(IllegalArgumentException.class, () -> steps.readWord(remote, 1, 0));
    assertThrows(IllegalArgumentException.class, () -> remote.length(1));
    assertEquals(GateDescriptor.LENGTH, remote.length(RemoteDomain.GATE));
    assertEquals(102, steps.readWord(remote, 2, SIZE + 56));
  }

  @Test
  void viewIsTheMemoryItself() throws IOException {
    for (Rights rights : Rights.values()) {
      Domain domain = steps.open(rights);
      DomainSegment segment = domain.grow(SIZE);
      RemoteDomain remote = steps.connect(domain).remote();
      int number = remote.attach(segment.descriptor());
      if (!remote.capabilities().loadStore()) {
        assertThrows(IllegalStateException.class, () -> remote.view(number));
        continue;
      }
      MemoryRegion view = remote.view(number);
      segment.region().putLongRelease(SIZE - 8, 42);
      segment.region().fullFence();
      assertEquals(42, view.getLongAcquire(SIZE - 8));
      assertEquals(SIZE, view.length());
      if (rights == Rights.READ) {
        assertThrows(ReadOnlyBufferException.class, () -> view.putLong(0, 1));
        assertThrows(ReadOnlyBufferException.class, () -> view.putLongRelease(0, 1));
        assertThrows(ReadOnlyBufferException.class, () -> view.putInt(0, 1));
        assertThrows(ReadOnlyBufferException.class, () -> view.putIntRelease(0, 1));
        assertThrows(ReadOnlyBufferException.class, () -> view.putBytes(0, new byte[8], 0, 8));
        assertEquals(0, segment.region().getLongAcquire(0));
      } else {
        view.putLongRelease(0, 43);
        view.fullFence();
        assertEquals(43, segment.region().getLongAcquire(0));
      }
      view.verify();
    }
  }

  @Test
  void peersDoWhatIsGrantedAndNoMore() throws IOException {
    for (Rights rights : Rights.values()) {
      Domain domain = steps.open(rights);
      assertEquals(rights, domain.rights());
      DomainSegment segment = domain.grow(SIZE);
      RemoteDomain remote = steps.connect(domain).remote();
      assertEquals(rights, remote.rights());
      int number = remote.attach(segment.descriptor());
      MemoryRegion local = remote.scratch(64);
      assertEquals(64, steps.complete(remote, remote.read(number, 0, local, 0, 64, 1)));
      if (rights.include(Rights.WRITE)) {
        local.putLong(0, 7);
        assertEquals(64, steps.complete(remote, remote.write(number, 0, local, 0, 64, 2)));
      } else {
        assertThrows(
            IllegalArgumentException.class, () -> remote.write(number, 0, local, 0, 64, 2));
      }
      if (rights.include(Rights.ATOMIC)) {
        assertEquals(0, steps.complete(remote, remote.compareAndSwap(number, 64, 0, 5, 3)));
        assertEquals(5, steps.complete(remote, remote.fetchAndAdd(number, 64, 4, 4)));
        assertEquals(9, steps.complete(remote, remote.compareAndSwap(number, 64, 5, 1, 5)));
        assertEquals(9, steps.readWord(remote, number, 64));
      } else {
        assertThrows(
            IllegalArgumentException.class, () -> remote.compareAndSwap(number, 0, 0, 1, 3));
        assertThrows(IllegalArgumentException.class, () -> remote.fetchAndAdd(number, 0, 1, 4));
        assertEquals(0, steps.readWord(remote, number, 64));
      }
      assertFalse(remote.isRevoked());
    }
  }

  @Test
  void peersShareOneDomain() throws IOException {
    Domain domain = steps.open(Rights.ATOMIC);
    DomainSegment segment = domain.grow(SIZE);
    RemoteDomain first = steps.connect(domain).remote();
    RemoteDomain second = steps.connect(domain).remote();
    first.attach(segment.descriptor());
    second.attach(segment.descriptor());
    steps.writeWord(first, 0, 8, 11);
    assertEquals(11, steps.readWord(second, 0, 8));
    for (int i = 0; i < 10; i++) {
      assertEquals(2L * i, steps.complete(first, first.fetchAndAdd(0, 16, 1, i)));
      assertEquals(2L * i + 1, steps.complete(second, second.fetchAndAdd(0, 16, 1, i)));
    }
    harness.drive(() -> segment.region().getLongAcquire(16) == 20);
  }

  @Test
  void tokenIsTakenOnce() throws IOException {
    Domain domain = steps.open(Rights.READ);
    byte[] right = token("right");
    domain.admit(harness.client.hint(), right);
    assertNotAdmitted(domain.descriptor(), token("wrong"));
    harness.client.connectDomain(domain.descriptor(), right, DEADLINE_NS);
    assertNotAdmitted(domain.descriptor(), right);
    domain.admit(harness.client.hint(), token("early")).close();
    assertNotAdmitted(domain.descriptor(), token("early"));

    Domain other = steps.open(Rights.READ);
    other.admit(harness.client.hint(), token("others"));
    assertNotAdmitted(domain.descriptor(), token("others"));
    harness.client.connectDomain(other.descriptor(), token("others"), DEADLINE_NS);
    assertThrows(
        IllegalArgumentException.class, () -> domain.admit(harness.client.hint(), new byte[15]));
    assertThrows(
        IllegalArgumentException.class,
        () -> harness.client.connectDomain(domain.descriptor(), new byte[17], DEADLINE_NS));
  }

  @Test
  void peerThatCannotReachTheMemoryIsNotAdmitted() throws IOException {
    Domain domain = steps.open(Rights.READ);
    byte[] hint = "another host".getBytes(UTF_8);
    IOException refusal = assertThrows(IOException.class, () -> domain.admit(hint, token("a")));
    assertNotNull(refusal.getMessage());
  }

  @Test
  void onePeerIsRevokedAlone() throws IOException {
    Domain domain = steps.open(Rights.WRITE);
    DomainSegment segment = domain.grow(SIZE);
    Peer first = steps.connect(domain);
    Peer second = steps.connect(domain);
    first.remote().attach(segment.descriptor());
    second.remote().attach(segment.descriptor());
    first.admission().close();
    first.admission().close();
    assertEnded(first.remote(), segment);
    assertFalse(second.remote().isRevoked());
    steps.writeWord(second.remote(), 0, 0, 3);
    assertEquals(3, steps.readWord(second.remote(), 0, 0));
  }

  @Test
  void closingTheDomainRevokesAll() throws IOException {
    Domain domain = steps.open(Rights.WRITE);
    DomainSegment segment = domain.grow(SIZE);
    Peer first = steps.connect(domain);
    Peer second = steps.connect(domain);
    first.remote().attach(segment.descriptor());
    second.remote().attach(segment.descriptor());
    domain.admit(harness.client.hint(), token("late"));
    domain.close();
    domain.close();
    assertEnded(first.remote(), segment);
    assertEnded(second.remote(), segment);
    assertNotAdmitted(domain.descriptor(), token("late"));
    assertThrows(IOException.class, () -> domain.grow(SIZE));
    assertThrows(IOException.class, () -> domain.admit(harness.client.hint(), token("later")));
    segment.close();
    first.admission().close();
  }

  @Test
  void sideThatHasClosedReachesNothing() throws IOException {
    Domain domain = steps.open(Rights.WRITE);
    DomainSegment segment = domain.grow(SIZE);
    Peer peer = steps.connect(domain);
    peer.remote().attach(segment.descriptor());
    peer.remote().close();
    peer.remote().close();
    assertTrue(peer.remote().isRevoked());
    assertThrows(IOException.class, () -> peer.remote().attach(segment.descriptor()));
    assertThrows(IOException.class, () -> peer.remote().scratch(64));
    peer.admission().close();
    steps.connect(domain).remote().attach(segment.descriptor());
  }

  private void assertEnded(RemoteDomain remote, DomainSegment segment) throws IOException {
    MemoryRegion local = new DirectRegion(64);
    harness.drive(remote::isRevoked);
    assertEquals(QueuePair.CLOSED, remote.read(0, 0, local, 0, 64, 1));
    assertEquals(QueuePair.CLOSED, remote.write(0, 0, local, 0, 64, 1));
    assertThrows(IOException.class, () -> remote.attach(segment.descriptor()));
    assertThrows(IOException.class, () -> remote.scratch(64));
    assertEquals(0, remote.completions().poll((id, status, value) -> {}, 10));
  }

  @Test
  void closedSegmentIsGone() throws IOException {
    Domain domain = steps.open(Rights.WRITE);
    DomainSegment gone = domain.grow(SIZE);
    DomainSegment kept = domain.grow(SIZE);
    RemoteDomain remote = steps.connect(domain).remote();
    remote.attach(kept.descriptor());
    byte[] descriptor = gone.descriptor();
    gone.close();
    gone.close();
    assertThrows(IOException.class, () -> remote.attach(descriptor));
    assertEquals(2, domain.grow(SIZE).number());
    assertEquals(0, steps.readWord(remote, kept.number(), 0));

    remote.attach(domain.grow(SIZE).descriptor());
    MemoryRegion local = remote.scratch(SIZE);
    DomainSegment taken = domain.grow(SIZE);
    int number = remote.attach(taken.descriptor());
    taken.close();
    assertEquals(QueuePair.POSTED, remote.read(number, 0, local, 0, SIZE, 9));
    assertEquals(QueuePair.FLUSHED, steps.completions(remote, 1).get(0)[1]);
    harness.drive(remote::isRevoked);
  }

  @Test
  void memoryAndPeersAreLimited() throws IOException {
    Domain domain =
        harness.server.openDomain(new DomainContext().memoryLimit(2L * SIZE).peerLimit(2));
    DomainSegment first = domain.grow(SIZE);
    domain.grow(SIZE);
    assertMessage("memoryLimit", assertThrows(IOException.class, () -> domain.grow(64)));
    first.close();
    assertThrows(IOException.class, () -> domain.grow(SIZE + 64));
    assertEquals(2, domain.grow(SIZE).number());
    for (int length : new int[] {Integer.MIN_VALUE, -64, 0, 63, 65}) {
      assertThrows(IllegalArgumentException.class, () -> domain.grow(length), "length=" + length);
    }
    Peer peer = steps.connect(domain);
    domain.admit(harness.client.hint(), steps.nextToken());
    assertMessage("peerLimit", assertThrows(IOException.class, () -> steps.connect(domain)));
    peer.admission().close();
    steps.connect(domain);
  }

  private static void assertMessage(String part, IOException e) {
    assertTrue(e.getMessage().contains(part), e::getMessage);
  }

  @Test
  void garbageLeadsNowhereAndUsesNoTokenUp() throws IOException {
    Domain domain = steps.open(Rights.READ);
    DomainSegment segment = domain.grow(SIZE);
    byte[] token = steps.nextToken();
    domain.admit(harness.client.hint(), token);
    byte[] whole = domain.descriptor();
    byte[] part = segment.descriptor();
    RemoteDomain remote = steps.connect(domain).remote();
    for (byte[] right : List.of(whole, part)) {
      for (byte[] garbage :
          List.of(
              new byte[0],
              new byte[1],
              "nonsense".getBytes(UTF_8),
              new byte[4096],
              Arrays.copyOf(right, right.length - 1),
              Arrays.copyOf(right, right.length + 1))) {
        assertNotAdmitted(garbage, token);
        assertThrows(IOException.class, () -> remote.attach(garbage));
      }
    }
    assertNotAdmitted(part, token);
    assertThrows(IOException.class, () -> remote.attach(whole));
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      String what = "seed=" + seed + " mutant=" + i;
      byte[] mutantWhole = mutant(whole, random);
      assertThrows(
          IOException.class,
          () -> harness.client.connectDomain(mutantWhole, token, DEADLINE_NS),
          what);
      byte[] mutantPart = mutant(part, random);
      assertThrows(IOException.class, () -> remote.attach(mutantPart), what);
    }
    assertFalse(remote.isRevoked());
    RemoteDomain second = harness.client.connectDomain(whole, token, DEADLINE_NS);
    assertEquals(0, second.attach(part));
    assertEquals(0, remote.attach(part));
  }

  private static byte[] mutant(byte[] descriptor, Random random) {
    byte[] mutant = descriptor.clone();
    mutant[random.nextInt(mutant.length)] ^= (byte) (1 + random.nextInt(255));
    return mutant;
  }

  @Test
  void descriptorsOfOtherThingsAreRefused() throws IOException {
    Domain domain = steps.open(Rights.READ);
    Domain other = steps.open(Rights.READ);
    RemoteDomain remote = steps.connect(domain).remote();
    byte[] others = other.grow(SIZE).descriptor();
    assertThrows(IOException.class, () -> remote.attach(others));
    byte[] session = harness.offer(token("a")).offer.descriptor();
    assertThrows(IOException.class, () -> remote.attach(session));
    assertNotAdmitted(session, token("a"));
    assertThrows(
        IOException.class,
        () ->
            harness.client.connect(harness.clientBell, domain.descriptor(), token("a"), SHORT_NS));
  }

  @Test
  void gateIsSeenAndNotWritten() throws IOException {
    Domain domain = steps.open(Rights.ATOMIC);
    RemoteDomain remote = steps.connect(domain).remote();
    GatePage gate = domain.gate();
    assertEquals(0, steps.readWord(remote, RemoteDomain.GATE, GateDescriptor.WORD_OFFSET));
    gate.move(5);
    assertEquals(5, steps.readWord(remote, RemoteDomain.GATE, GateDescriptor.WORD_OFFSET));
    if (remote.capabilities().loadStore()) {
      GateView view = new GateView(remote.view(RemoteDomain.GATE));
      assertTrue(view.isOpen(5));
      assertFalse(view.isOpen(4));
      gate.close();
      assertFalse(view.isOpen(5));
      assertThrows(
          ReadOnlyBufferException.class,
          () -> remote.view(RemoteDomain.GATE).putLong(GateDescriptor.WORD_OFFSET, 1));
    }
    gate.close();
    assertEquals(-5, steps.readWord(remote, RemoteDomain.GATE, GateDescriptor.WORD_OFFSET));
    MemoryRegion local = remote.scratch(64);
    assertThrows(
        IllegalArgumentException.class,
        () -> remote.write(RemoteDomain.GATE, 64, local, 0, Long.BYTES, 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> remote.fetchAndAdd(RemoteDomain.GATE, GateDescriptor.WORD_OFFSET, 1, 1));
  }

  private void assertNotAdmitted(byte[] descriptor, byte[] token) {
    IOException refusal =
        assertThrows(
            IOException.class,
            () -> harness.client.connectDomain(descriptor, token, SHORT_NS),
            () -> "descriptor=" + Arrays.toString(descriptor));
    assertNotNull(refusal.getMessage());
  }

  private static byte[] all(MemoryRegion region) {
    byte[] bytes = new byte[region.length()];
    region.getBytes(0, bytes, 0, bytes.length);
    return bytes;
  }
}

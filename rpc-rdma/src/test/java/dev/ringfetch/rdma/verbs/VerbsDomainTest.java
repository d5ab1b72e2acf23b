package dev.ringfetch.rdma.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.DomainSteps;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.ReadOnlyRegion;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of domains on verbs beyond the contract: memory of others, and what is left. */
@Tag("verbs")
final class VerbsDomainTest {
  private static final int LENGTH = 4096;

  @TempDir Path directory;

  private FabricHarness harness;
  private DomainSteps steps;

  @BeforeEach
  void open() throws IOException {
    RdmaAssumptions.assumeDevice();
    harness = new FabricHarness(VerbsFabricTest.openVerbs(), VerbsFabricTest.openVerbs());
    steps = new DomainSteps(harness);
  }

  @AfterEach
  void close() {
    if (harness != null) {
      harness.close();
    }
  }

  private static MappedRegion map(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new MappedRegion(channel.map(MapMode.READ_WRITE, 0, LENGTH));
    }
  }

  @Test
  void memoryOfAnotherIsShown() throws IOException {
    Path shared = Path.of("/dev/shm", "ringfetch-adopted-" + ProcessHandle.current().pid());
    try {
      for (MemoryRegion memory : List.of(new DirectRegion(LENGTH), map(shared))) {
        Domain domain = steps.open(Rights.WRITE);
        DomainSegment first = domain.grow(64);
        DomainSegment adopted = domain.adopt(memory);
        assertEquals(1, adopted.number());
        assertEquals(LENGTH, adopted.length());
        RemoteDomain remote = steps.connect(domain).remote();
        remote.attach(first.descriptor());
        assertEquals(1, remote.attach(adopted.descriptor()));
        memory.putLongRelease(LENGTH - 8, 42);
        memory.fullFence();
        assertEquals(42, steps.readWord(remote, 1, LENGTH - 8));
        steps.writeWord(remote, 1, 8, 43);
        assertEquals(43, memory.getLongAcquire(8));
        adopted.close();
        memory.putLongRelease(0, 44); // still its owner's
        assertThrows(IOException.class, () -> remote.attach(adopted.descriptor()));
        assertEquals(0, steps.readWord(remote, 0, 0));
      }
    } finally {
      Files.deleteIfExists(shared);
    }
  }

  @Test
  void memoryThatNoDeviceReachesIsRefusedInWords() throws IOException {
    Domain domain = steps.open(Rights.READ);
    IOException refusal =
        assertThrows(
            IOException.class, () -> domain.adopt(new ReadOnlyRegion(new DirectRegion(LENGTH))));
    assertTrue(refusal.getMessage().contains("no device reaches"), refusal::getMessage);
    assertEquals(0, domain.grow(64).number());
  }

  @Test
  void gateOfAFileIsSeen() throws IOException {
    GatePage gate = GatePage.open(directory.resolve("gate"));
    Domain domain =
        harness.server.openDomain(new DomainContext().rights(Rights.READ).gate(gate, 7));
    RemoteDomain remote = steps.connect(domain).remote();
    gate.move(7);
    assertEquals(7, steps.readWord(remote, RemoteDomain.GATE, GateDescriptor.WORD_OFFSET));
    gate.close();
    assertEquals(-7, steps.readWord(remote, RemoteDomain.GATE, GateDescriptor.WORD_OFFSET));
  }

  /** The device refuses a WRITE with the key of memory that may only be read. */
  @Test
  void readableMemoryIsNotWrittenWhateverThePeerDoes() throws IOException {
    Domain domain = steps.open(Rights.READ);
    DomainSegment segment = domain.grow(LENGTH);
    RemoteDomain remote = steps.connect(domain).remote();
    VerbsRemoteDomain hostile = (VerbsRemoteDomain) remote;
    SegmentDescriptor address = SegmentDescriptor.decode(segment.descriptor());
    VerbsMemory local = (VerbsMemory) hostile.scratch(64);
    local.putLong(0, 1);
    DomainQueue queue = (DomainQueue) hostile.completions();
    assertEquals(
        QueuePair.POSTED,
        queue.write(address.memory().address(), address.memory().rkey(), local, 0, 64, 1));
    assertEquals(QueuePair.FLUSHED, steps.completions(remote, 1).get(0)[1]);
    harness.drive(remote::isRevoked);
    assertEquals(0, segment.region().getLongAcquire(0));
    assertEquals(0, steps.readWord(connected(domain, segment), 0, 0));
  }

  private RemoteDomain connected(Domain domain, DomainSegment segment) throws IOException {
    RemoteDomain remote = steps.connect(domain).remote();
    remote.attach(segment.descriptor());
    return remote;
  }

  @Test
  void nothingIsLeft() throws Exception {
    useAll(); // the listening id stays as long as the fabric
    String before = objects();
    useAll();
    harness.drive(() -> objects().equals(before));
  }

  /** A connection for each way to end. */
  private void useAll() throws IOException {
    Domain domain = steps.open(Rights.ATOMIC);
    DomainSegment segment = domain.grow(LENGTH);
    domain.grow(LENGTH);
    RemoteDomain closedHere = connected(domain, segment);
    DomainSteps.Peer revoked = steps.connect(domain);
    revoked.remote().attach(segment.descriptor());
    RemoteDomain ended = connected(domain, segment);
    domain.admit(harness.client.hint(), steps.nextToken());
    closedHere.close();
    revoked.admission().close();
    segment.close();
    domain.close();
    harness.drive(ended::isRevoked);
    ended.close();
    revoked.remote().close();
  }

  /** Objects of the device, as the kernel counts them: of both sides. */
  private static String objects() {
    try {
      Process process = new ProcessBuilder("rdma", "res", "show").redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertEquals(0, process.waitFor(), said);
      return said;
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}

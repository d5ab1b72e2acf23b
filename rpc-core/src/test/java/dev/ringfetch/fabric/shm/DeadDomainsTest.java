package dev.ringfetch.fabric.shm;

import static dev.ringfetch.fabric.DomainSteps.SIZE;
import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory of a killed process: readable until its gate moves, and then gone. */
class DeadDomainsTest {
  @TempDir Path parent;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private ShmChild child;
  private RemoteDomain remote;
  private byte[] firstSegment;
  private byte[] secondSegment;

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
    }
  }

  private Fabric openFabric() throws IOException {
    Fabric fabric = new ShmProvider().open(new FabricContext().directory(parent));
    opened.add(fabric);
    return fabric;
  }

  private Path gate() {
    return parent.resolve("gate");
  }

  private List<String> files() throws IOException {
    Path root = parent.resolve("ringfetch-" + Files.getAttribute(parent, "unix:uid"));
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(path -> !path.equals(root))
          .map(path -> path.getFileName().toString().replaceFirst("admission-.*", "admission"))
          .map(name -> name.replaceFirst("^[0-9]+-[0-9a-f]{16}", "process"))
          .sorted()
          .toList();
    }
  }

  /** Starts a child with a domain, and connects to it. */
  private void start(Rights rights, String task) throws IOException {
    child = ShmChild.start(parent, task + "-" + rights);
    opened.add(child);
    byte[] domain = HexFormat.of().parseHex(child.readLine());
    firstSegment = HexFormat.of().parseHex(child.readLine());
    secondSegment = HexFormat.of().parseHex(child.readLine());
    remote = openFabric().connectDomain(domain, ShmChild.TOKEN, DEADLINE_NS);
    remote.attach(firstSegment);
  }

  /** In the child: opens a domain behind a gate, or behind one of its own, and says where. */
  static void serve(Fabric fabric, Path directory, Rights rights, boolean hasGate)
      throws IOException {
    DomainContext context = new DomainContext().rights(rights);
    if (hasGate) {
      GatePage gate = GatePage.open(directory.resolve("gate"));
      gate.move(1);
      context.gate(gate, 1);
    }
    Domain domain = fabric.openDomain(context);
    domain.admit(fabric.hint(), ShmChild.TOKEN);
    domain.admit(fabric.hint(), token("not taken"));
    System.out.println(HexFormat.of().formatHex(domain.descriptor()));
    for (int i = 0; i < 2; i++) {
      DomainSegment segment = domain.grow(SIZE);
      segment.region().putLongRelease(SIZE - 8, 100 + i);
      System.out.println(HexFormat.of().formatHex(segment.descriptor()));
    }
    System.in.read();
    fabric.close();
  }

  private long read(int segment) throws IOException {
    MemoryRegion local = remote.scratch(64);
    long[] statusSeen = {1};
    assertEquals(QueuePair.POSTED, remote.read(segment, SIZE - 8, local, 0, 8, 1));
    remote.completions().poll((id, status, value) -> statusSeen[0] = status, 1);
    return statusSeen[0] == QueuePair.SUCCESS ? local.getLong(0) : statusSeen[0];
  }

  @Test
  void memoryOfAKilledProcessIsReadUntilItsGateMoves() throws Exception {
    start(Rights.READ, "serve-gated");
    GateView gate = new GateView(remote.view(RemoteDomain.GATE));
    List<String> before = files();
    child.kill();
    openFabric(); // sweeps
    Fabric successor = openFabric();
    List<String> left =
        List.of(
            "alive",
            "domain-0",
            "domain-0-admission",
            "domain-0-segment-0",
            "domain-0-segment-1",
            "process",
            "process.lock");
    assertEquals(left, files());
    assertEquals(left, before);
    assertTrue(gate.isOpen(1));
    assertEquals(100, read(0));
    assertEquals(1, remote.attach(secondSegment), "attached only now");
    assertEquals(101, read(1));
    assertEquals(101, remote.view(1).getLongAcquire(SIZE - 8));
    assertFalse(remote.isRevoked());

    GatePage successors = GatePage.open(gate());
    assertThrows(IllegalArgumentException.class, () -> successors.move(1));
    successors.move(2);
    assertFalse(gate.isOpen(1));
    successor.sweep();
    assertEquals(List.of(), files());
    assertEquals(2, successors.epoch());
    assertEquals(QueuePair.FLUSHED, read(0), "its pages are given back at once");
    assertTrue(remote.isRevoked());
  }

  @Test
  void gateThatWasClosedKeepsNothing() throws Exception {
    start(Rights.READ, "serve-gated");
    child.kill();
    GatePage.open(gate()).close();
    openFabric().sweep();
    assertEquals(List.of(), files());
  }

  @Test
  void pagesThatAtomicsMayMeetStayWithTheReader() throws Exception {
    start(Rights.ATOMIC, "serve-gated");
    child.kill();
    GatePage.open(gate()).move(2);
    openFabric().sweep();
    assertEquals(List.of(), files());
    assertEquals(100, read(0));
    assertEquals(QueuePair.POSTED, remote.fetchAndAdd(0, SIZE - 8, 5, QueuePair.UNSIGNALED));
    assertEquals(105, read(0));
  }

  @Test
  void withoutAGateThatOutlivesItTheFilesGoAndTheMemoryStays() throws Exception {
    start(Rights.READ, "serve-ungated");
    child.kill();
    openFabric().sweep();
    assertEquals(List.of(), files());
    assertEquals(100, read(0));
    assertThrows(IOException.class, () -> remote.attach(secondSegment));
  }

  @Test
  void gateThatIsMissingKeepsNothing() throws Exception {
    start(Rights.READ, "serve-gated");
    child.kill();
    Files.delete(gate());
    openFabric().sweep();
    assertEquals(List.of(), files());
    assertEquals(100, read(0));
  }

  @Test
  void orderlyEndLeavesNothing() throws Exception {
    start(Rights.READ, "serve-gated");
    openFabric().sweep(); // spares what lives
    assertEquals(7, files().size(), () -> "a process that lives");
    child.say("");
    assertEquals(0, child.exitCode());
    assertEquals(List.of(), files());
    assertTrue(remote.isRevoked());
    assertEquals(100, remote.view(0).getLongAcquire(SIZE - 8), "as long as it is mapped");
  }

  @Test
  void recordThatIsDamagedKeepsNothing() throws Exception {
    start(Rights.READ, "serve-gated");
    child.kill();
    Path root = parent.resolve("ringfetch-" + Files.getAttribute(parent, "unix:uid"));
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.filter(file -> file.endsWith("domain-0")).toList()) {
        Files.write(path, new byte[100]);
      }
    }
    openFabric().sweep();
    assertEquals(List.of(), files());
  }
}

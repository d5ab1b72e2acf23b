package dev.ringfetch.fabric.shm;

import static dev.ringfetch.fabric.DomainSteps.SIZE;
import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.token;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of domains of a process that lives, and what becomes of peers that lose them. */
class ShmDomainTest {
  @TempDir Path parent;

  private Fabric owner;
  private Fabric peer;

  @BeforeEach
  void open() throws IOException {
    owner = FabricProviders.open("shm", new FabricContext().directory(parent));
    peer = FabricProviders.open("shm", new FabricContext().directory(parent));
  }

  @AfterEach
  void close() {
    peer.close();
    owner.close();
  }

  private Path root() throws IOException {
    return parent.resolve("ringfetch-" + Files.getAttribute(parent, "unix:uid"));
  }

  /** The files of domains, sorted by name. */
  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(root())) {
      return all.filter(path -> path.getFileName().toString().startsWith("domain-"))
          .sorted()
          .toList();
    }
  }

  private Path file(String suffix) throws IOException {
    return files().stream().filter(path -> path.toString().endsWith(suffix)).findFirst().get();
  }

  private RemoteDomain connect(Domain domain) throws IOException {
    domain.admit(peer.hint(), token("a"));
    return peer.connectDomain(domain.descriptor(), token("a"), DEADLINE_NS);
  }

  @Test
  void unknownFabricIsNamed() {
    IOException refusal =
        assertThrows(IOException.class, () -> FabricProviders.open("none", new FabricContext()));
    assertTrue(refusal.getMessage().contains("none"), refusal::getMessage);
  }

  @Test
  void filesAreThisUsersAloneAndGoWithTheDomain() throws IOException {
    assertFalse(Files.exists(root()));
    Domain domain = owner.openDomain(new DomainContext());
    DomainSegment segment = domain.grow(SIZE);
    domain.grow(SIZE);
    domain.admit(peer.hint(), token("later"));
    RemoteDomain remote = connect(domain);
    remote.attach(segment.descriptor());
    assertEquals(5, files().size(), () -> "record, gate, two segments, one admission");
    for (Path file : files()) {
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }
    assertTrue(files().stream().noneMatch(file -> file.toString().contains("later")));
    segment.close();
    assertEquals(4, files().size());
    domain.close();
    assertEquals(List.of(), files());
    Domain second = owner.openDomain(new DomainContext());
    second.grow(SIZE);
    owner.close();
    try (Stream<Path> left = Files.list(root())) {
      assertEquals(List.of(), left.toList());
    }
    assertThrows(IOException.class, () -> owner.openDomain(new DomainContext()));
    assertTrue(remote.isRevoked());
  }

  @Test
  void readersMapReadOnly() throws IOException {
    Domain domain = owner.openDomain(new DomainContext());
    RemoteDomain remote = connect(domain);
    remote.attach(domain.grow(SIZE).descriptor());
    List<String> maps =
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.contains(parent.toString()) && line.contains("-segment-0"))
            .map(line -> line.split(" +", -1)[1])
            .sorted()
            .toList();
    assertEquals(List.of("r--s", "rw-s"), maps, "the peer's and the owner's");
    assertEquals(0, remote.view(0).getLong(0));
  }

  @Test
  void sparseSegmentTakesNoPages() throws IOException {
    Domain domain = owner.openDomain(new DomainContext().sparse(true));
    domain.grow(1 << 30);
    domain.grow(64 * 1024);
    Process process = new ProcessBuilder("du", "-k", file("-segment-0").toString()).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertTrue(Integer.parseInt(said.split("\\s", -1)[0]) < 100, said);
  }

  @Test
  void ofTwoThatPresentOneTokenAtOnceOneIsAdmitted() throws Exception {
    Domain domain = owner.openDomain(new DomainContext());
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int round = 0; round < 200; round++) {
        byte[] token = token("token " + round);
        domain.admit(peer.hint(), token);
        byte[] descriptor = domain.descriptor();
        Callable<RemoteDomain> connect = () -> peer.connectDomain(descriptor, token, DEADLINE_NS);
        int admitted = 0;
        for (Future<RemoteDomain> one : threads.invokeAll(List.of(connect, connect))) {
          admitted += isAdmitted(one) ? 1 : 0;
        }
        assertEquals(1, admitted, "round=" + round);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean isAdmitted(Future<RemoteDomain> connecting) throws Exception {
    try {
      connecting.get().close();
      return true;
    } catch (ExecutionException e) {
      assertTrue(e.getCause() instanceof IOException, () -> "cause=" + e.getCause());
      return false;
    }
  }

  @Test
  void truncatedFilesAreRefusedAndEndTheConnection() throws IOException {
    Domain domain = owner.openDomain(new DomainContext());
    RemoteDomain remote = connect(domain);
    remote.attach(domain.grow(SIZE).descriptor());
    DomainSegment second = domain.grow(SIZE);
    truncate(file("-segment-1"), SIZE);
    IOException refusal = assertThrows(IOException.class, () -> remote.attach(second.descriptor()));
    assertTrue(refusal.getMessage().contains("size="), refusal::getMessage);

    MemoryRegion local = remote.scratch(SIZE);
    assertEquals(QueuePair.POSTED, remote.read(0, 0, local, 0, SIZE, 1));
    truncate(file("-segment-0"), 0);
    assertEquals(QueuePair.POSTED, remote.read(0, 0, local, 0, SIZE, 2));
    List<Integer> statuses = new ArrayList<>();
    remote.completions().poll((id, status, value) -> statuses.add(status), 10);
    assertEquals(List.of(QueuePair.SUCCESS, QueuePair.FLUSHED), statuses);
    assertEquals(QueuePair.CLOSED, remote.read(0, 0, local, 0, SIZE, 3));
    assertTrue(remote.isRevoked());

    truncate(file("domain-0"), 100);
    domain.admit(peer.hint(), token("b"));
    assertThrows(
        IOException.class, () -> peer.connectDomain(domain.descriptor(), token("b"), DEADLINE_NS));
  }

  private static void truncate(Path path, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  @Test
  void damagedRecordIsRefused() throws IOException {
    Domain domain = owner.openDomain(new DomainContext());
    int[][] damages = {{0, 1}, {16, 2}, {16, -1}, {20, 5000}, {20, -1}, {20, 1}};
    for (int[] damage : damages) {
      domain.admit(peer.hint(), token("damage " + damage[0] + " " + damage[1]));
      Path record = file("domain-0");
      byte[] before = Files.readAllBytes(record);
      try (FileChannel channel = FileChannel.open(record, StandardOpenOption.WRITE)) {
        channel.write(
            ByteBuffer.allocate(4).putInt(Integer.reverseBytes(damage[1])).flip(),
            SessionFile.HEADER_LENGTH + damage[0]);
        assertThrows(
            IOException.class,
            () ->
                peer.connectDomain(
                    domain.descriptor(),
                    token("damage " + damage[0] + " " + damage[1]),
                    DEADLINE_NS),
            "offset=" + damage[0] + " value=" + damage[1]);
        channel.write(ByteBuffer.wrap(before), 0);
      }
    }
    connect(domain);
  }

  @Test
  void deletedFilesAreNamedAndWhatIsMappedStays() throws IOException {
    Domain domain = owner.openDomain(new DomainContext().rights(Rights.WRITE));
    RemoteDomain remote = connect(domain);
    DomainSegment segment = domain.grow(SIZE);
    DomainSegment second = domain.grow(SIZE);
    remote.attach(segment.descriptor());
    segment.region().putLongRelease(0, 4);
    try (Stream<Path> all = Files.walk(root())) { // as RemoveIPC does
      for (Path path : all.sorted((one, other) -> other.compareTo(one)).toList()) {
        Files.delete(path);
      }
    }
    assertEquals(4, remote.view(0).getLongAcquire(0));
    assertFalse(remote.isRevoked());
    IOException full = assertThrows(IOException.class, () -> domain.grow(SIZE));
    assertTrue(full.getMessage().contains("deleted"), full::getMessage);
    IOException gone = assertThrows(IOException.class, () -> remote.attach(second.descriptor()));
    assertTrue(gone.getMessage().contains("closed"), gone::getMessage);
    assertThrows(IOException.class, () -> connect(domain));
    domain.close();
    assertTrue(remote.isRevoked());
    connect(owner.openDomain(new DomainContext()));
  }

  @Test
  void closingClosesTheGateOfItsOwnOnly() throws IOException {
    Domain domain = owner.openDomain(new DomainContext());
    domain.gate().move(1);
    GateView own = new GateView(connect(domain).view(RemoteDomain.GATE));
    assertTrue(own.isOpen(1));
    domain.close();
    assertFalse(own.isOpen(1));
    Domain first = owner.openDomain(new DomainContext());
    first.gate().move(1);
    Domain second = owner.openDomain(new DomainContext().gate(first.gate(), 1));
    GateView shared = new GateView(connect(second).view(RemoteDomain.GATE));
    second.close();
    assertTrue(shared.isOpen(1));
  }
}

package dev.ringfetch.fabric.shm;

import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.token;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Told;
import dev.ringfetch.fabric.QueuePair;
import java.io.File;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** shm between processes: those that die, that come and go, and that want for something. */
class ShmProcessTest {
  @TempDir Path parent;

  private Path root;
  private final List<AutoCloseable> opened = new ArrayList<>();

  @BeforeEach
  void nameRoot() throws IOException {
    root = parent.resolve("ringfetch-" + Files.getAttribute(parent, "unix:uid"));
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
    }
  }

  private <T extends AutoCloseable> T closeLater(T resource) {
    opened.add(resource);
    return resource;
  }

  private ShmFabric openFabric() throws IOException {
    return (ShmFabric) closeLater(new ShmProvider().open(new FabricContext().directory(parent)));
  }

  private FabricHarness openHarness() throws IOException {
    return closeLater(new FabricHarness(openFabric(), openFabric()));
  }

  private ShmChild start(String task) throws IOException {
    return closeLater(ShmChild.start(parent, task));
  }

  private Set<String> entries() throws IOException {
    Set<String> names = new TreeSet<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(root)) {
      stream.forEach(entry -> names.add(entry.getFileName().toString()));
    }
    return names;
  }

  @Test
  void processesConnectAndTheDeathOfOneIsTold() throws Exception {
    ShmChild child = start("serve");
    byte[] descriptor = HexFormat.of().parseHex(child.readLine());
    FabricHarness harness = openHarness();
    QueuePair client = harness.connect(descriptor, ShmChild.TOKEN);
    Told told = new Told();
    client.bind(told);
    child.kill();
    harness.drive(() -> told.ends.size() == 1);
    // What is mapped stays readable: it is this process's too.
    assertEquals(0, client.memory().getLong(0));
    client.close();
  }

  @Test
  void whatAKilledProcessLeftIsSwept() throws Exception {
    ShmChild child = start("serve");
    child.readLine();
    assertEquals(2, entries().size());
    child.kill();
    assertEquals(2, entries().size());
    openFabric();
    assertEquals(Set.of(), entries());
  }

  @Test
  void aFabricThatReadsAloneSweepsNothing() throws Exception {
    ShmChild child = start("serve");
    child.readLine();
    child.kill();
    Set<String> left = entries();
    assertEquals(2, left.size());
    new ShmProvider().open(new FabricContext().directory(parent).sweeps(false)).close();
    assertEquals(left, entries());
    openFabric();
    assertEquals(Set.of(), entries());
  }

  @Test
  void whatALivingProcessHoldsIsSpared() throws Exception {
    ShmChild child = start("serve");
    byte[] descriptor = HexFormat.of().parseHex(child.readLine());
    Set<String> before = entries();
    FabricHarness harness = openHarness();
    assertEquals(0, start("sweep").exitCode());
    assertEquals(before, entries());
    harness.connect(descriptor, ShmChild.TOKEN);

    // And what this process holds is spared by its own sweeps and by others'.
    harness.offer(token("a"));
    Set<String> both = entries();
    openFabric();
    assertEquals(0, start("sweep").exitCode());
    assertEquals(both, entries());
  }

  @Test
  void otherClassLoadersOfThisJvmAreSpared() throws Exception {
    FabricHarness harness = openHarness();
    harness.offer(token("a"));
    Set<String> before = entries();
    List<URL> path = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      path.add(Path.of(entry).toUri().toURL());
    }
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader loader = new URLClassLoader(path.toArray(new URL[0]), platform)) {
      Class<?> sweep = loader.loadClass(Sweep.class.getName());
      assertTrue(sweep != Sweep.class);
      var run = sweep.getDeclaredMethod("run", Path.class);
      run.setAccessible(true);
      run.invoke(null, root);
      assertEquals(before, entries());
      // The lock is still there too: another process would sweep otherwise.
      assertEquals(0, start("sweep").exitCode());
      assertEquals(before, entries());
    }
  }

  @Test
  void aLockThatThisProcessDropsIsNotMissed() throws Exception {
    FabricHarness harness = openHarness();
    byte[] descriptor = harness.offer(token("a")).offer.descriptor();
    Set<String> before = entries();
    for (String entry : before) {
      if (entry.endsWith(ProcessDirectory.LOCK_SUFFIX)) {
        FileChannel.open(root.resolve(entry), StandardOpenOption.READ).close();
      }
    }
    assertEquals(0, start("sweep").exitCode());
    for (int i = 0; i < 10; i++) { // more than may wait at the liveness socket
      Sweep.run(root);
    }
    assertEquals(before, entries());
    harness.connect(descriptor, token("a"));
  }

  @Test
  void aLivenessSocketIsProbedWhileItsProcessLives() throws Exception {
    Path directory = Files.createDirectory(parent.resolve("signed"));
    assertEquals(LivenessSocket.State.NONE, LivenessSocket.probe(directory));
    LivenessSocket socket = LivenessSocket.open(directory);
    for (int i = 0; i < 10; i++) {
      assertEquals(LivenessSocket.State.ALIVE, LivenessSocket.probe(directory));
    }
    socket.close();
    assertEquals(LivenessSocket.State.DEAD, LivenessSocket.probe(directory));
    Path deep = parent;
    for (int i = 0; i < 12; i++) {
      deep = Files.createDirectory(deep.resolve("a-long-name"));
    }
    Path tooDeep = deep;
    assertThrows(IOException.class, () -> LivenessSocket.open(tooDeep));
    assertEquals(LivenessSocket.State.NONE, LivenessSocket.probe(deep));
    ProcessDirectory.create(deep.resolve("root"), Ownership.ofThisProcess()).close();
  }

  @Test
  void orphansAreSweptAndOthersThingsAreNot() throws IOException {
    openHarness().offer(token("a"));
    Set<String> before = entries();
    Path orphan = Files.createDirectory(root.resolve("1-0123456789abcdef"));
    Files.createFile(orphan.resolve("session-0"));
    Files.createFile(root.resolve("2-0123456789abcdef.lock"));
    Files.createFile(root.resolve("notes.txt"));
    Files.createFile(root.resolve("notes.lock"));
    Files.createDirectory(root.resolve("notes"));
    Files.createSymbolicLink(root.resolve("3-0123456789abcdef"), parent);
    openFabric();
    before.addAll(List.of("notes.txt", "notes.lock", "notes", "3-0123456789abcdef"));
    assertEquals(before, entries());
  }

  @Test
  void processesThatComeAndGoDoNotDisturbEachOther() throws Exception {
    List<ShmChild> children = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      children.add(start("churn"));
    }
    for (ShmChild child : children) {
      assertEquals("0", child.readLine());
      assertEquals(0, child.exitCode());
    }
    openFabric();
    assertEquals(Set.of(), entries());
  }

  @Test
  void fullFileSystemIsAReasonNotADeath() throws Exception {
    ShmChild child = startOn("size=1m", "fill");
    String line = child.readLine();
    assertTrue(line.contains("No space left on device"), line);
    int offers = Integer.parseInt(line.substring(0, line.indexOf(' ')));
    assertTrue(offers >= 10 && offers < 16, line);
    assertEquals("closed", child.readLine());
    assertEquals(0, child.exitCode());
  }

  @Test
  void domainOnAFullFileSystemGrowsNoFurther() throws Exception {
    ShmChild child = startOn("size=1m", "fill-domain");
    String line = child.readLine();
    assertTrue(line.contains("No space left on device"), line);
    int segments = Integer.parseInt(line.substring(0, line.indexOf(' ')));
    assertTrue(segments >= 10 && segments < 16, line);
    assertEquals("closed", child.readLine());
    assertEquals(0, child.exitCode());
  }

  @Test
  void readOnlyFileSystemIsAReason() throws Exception {
    ShmChild child = startOn("ro", "fill");
    String line = child.readLine();
    assertTrue(line.startsWith("0 ") && line.contains("Read-only file system"), line);
    assertEquals("closed", child.readLine());
  }

  private ShmChild startOn(String mountOptions, String task) throws Exception {
    String mount = "mount -t tmpfs -o " + mountOptions + " none '" + parent + "'";
    boolean canMount;
    try {
      Process probe = new ProcessBuilder("unshare", "-m", "sh", "-c", mount).start();
      canMount = probe.waitFor() == 0;
    } catch (IOException e) {
      canMount = false;
    }
    if (!canMount) {
      System.out.println(
          "shm: " + task + " on " + mountOptions + " not tested: no mount namespace");
    }
    assumeTrue(canMount, "this user cannot mount a tmpfs in a namespace of its own");
    return closeLater(ShmChild.startAfter(mount, parent, task));
  }

  @Test
  void lackOfDescriptorsNeitherSpinsNorLosesThePeer() throws Exception {
    runOutOfDescriptors("serve-without-descriptors");
  }

  @Test
  void lastDescriptorIsEnoughForAPeer() throws Exception {
    runOutOfDescriptors("serve-with-one-descriptor");
  }

  private void runOutOfDescriptors(String task) throws Exception {
    ShmChild child = closeLater(ShmChild.startLimited("ulimit -n 256", parent, task));
    byte[] first = HexFormat.of().parseHex(child.readLine());
    byte[] descriptor = HexFormat.of().parseHex(child.readLine());
    FabricHarness harness = openHarness();
    harness.connect(first, ShmChild.TOKEN);
    child.say("");
    String reason = child.readLine();
    assertTrue(reason.contains("Too many open files"), reason);
    Future<QueuePair> connected = harness.connectUndriven(descriptor, ShmChild.TOKEN, DEADLINE_NS);
    child.say("");
    int wakes = Integer.parseInt(child.readLine());
    assertTrue(wakes < 50, "wakes=" + wakes);
    assertFalse(FabricHarness.result(connected).peer().isEmpty());
  }

  @Test
  void unverifiedPeersAreFewAndMakeRoom() throws IOException {
    FabricHarness harness = openHarness();
    byte[] descriptor = harness.offer(token("a")).offer.descriptor();
    List<SocketChannel> peers = peers(descriptor, 100);
    harness.settle();
    Future<QueuePair> connected = harness.connectUndriven(descriptor, token("a"), DEADLINE_NS);
    harness.settle();
    assertFalse(connected.isDone());
    for (SocketChannel peer : peers) {
      peer.close();
    }
    harness.drive(connected::isDone);
    assertFalse(FabricHarness.result(connected).peer().isEmpty());
  }

  @Test
  @Tag("slow")
  void unverifiedPeersThatStayAreRejected() throws IOException {
    FabricHarness harness = openHarness();
    byte[] descriptor = harness.offer(token("a")).offer.descriptor();
    peers(descriptor, 100);
    harness.settle();
    long startNs = System.nanoTime();
    Future<QueuePair> connected = harness.connectUndriven(descriptor, token("a"), DEADLINE_NS);
    // Long sleeps: the end of a peer's time has to end them.
    while (!connected.isDone()) {
      harness.serverBell.await(DEADLINE_NS);
    }
    assertFalse(FabricHarness.result(connected).peer().isEmpty());
    assertTrue(System.nanoTime() - startNs > SECONDS.toNanos(5));
  }

  private List<SocketChannel> peers(byte[] descriptor, int count) throws IOException {
    SessionAddress address = SessionAddress.decode(descriptor);
    Path bell = SessionAddress.bellPath(root.resolve(address.process()), address.bell());
    List<SocketChannel> peers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      SocketChannel peer = closeLater(SocketChannel.open(StandardProtocolFamily.UNIX));
      assertTrue(peer.connect(SessionAddress.socketAddress(bell)));
      peers.add(peer);
    }
    return peers;
  }
}

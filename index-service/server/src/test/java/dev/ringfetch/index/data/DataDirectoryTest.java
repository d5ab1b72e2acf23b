package dev.ringfetch.index.data;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.GateView;
import dev.ringfetch.index.disk.DiskFile;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.disk.SimulatedDisk;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataDirectoryTest {
  private static final String BOOT = "boot-1";
  private static final String ID = "0123456789abcdef0123456789abcdef";
  private static final Place PLACE = new Place(0x801, 0x2c0fe);

  @TempDir Path parent;

  private Path data;

  @BeforeEach
  void nameDirectory() {
    data = parent.resolve("data");
  }

  private DataDirectory open() throws IOException {
    return DataDirectory.open(data, Claim.NONE, BOOT);
  }

  private static void assertRefused(String part, IOException refusal) {
    assertTrue(refusal.getMessage().contains(part), refusal::getMessage);
  }

  @Test
  void directoryIsCreatedForItsUserAlone() throws IOException {
    try (DataDirectory directory = DataDirectory.open(data, Claim.NONE)) {
      assertEquals(1, directory.incarnation());
      assertTrue(directory.id().matches("[0-9a-f]{32}"), directory::id);
      assertEquals(0, directory.gate().epoch());
      assertEquals(data.toRealPath(), directory.path());
    }
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(data)));
    try (Stream<Path> files = Files.list(data)) {
      assertEquals(
          List.of("gate", "identity", "lock"),
          files.map(file -> file.getFileName().toString()).sorted().toList());
    }
    try (DataDirectory other = DataDirectory.open(parent.resolve("other"), Claim.NONE);
        DataDirectory again = DataDirectory.open(data, Claim.NONE)) {
      assertNotEquals(again.id(), other.id());
      assertEquals(2, again.incarnation());
    }
  }

  /** Writes an identity on a full disk, in the place of what is there. */
  private static IOException writeOnAFullDisk(SimulatedDisk disk, long incarnation) {
    disk.full(true);
    try {
      new Identity(ID, BOOT, PLACE, incarnation, 0).write(disk, "identity");
      return null;
    } catch (IOException e) {
      return e;
    } finally {
      disk.full(false);
    }
  }

  private Identity identityOf(SimulatedDisk disk) throws IOException {
    return Identity.read(disk, "identity");
  }

  @Test
  void identityNeedsNoRoomOnAFullDisk() throws IOException {
    for (final long before : new long[] {2, 9, 99, 999_999_999_999L}) {
      final SimulatedDisk disk = new SimulatedDisk();
      new Identity(ID, BOOT, PLACE, before, 0).write(disk, "identity");
      assertNull(writeOnAFullDisk(disk, before + 1));
      assertEquals(before + 1, identityOf(disk).incarnation());
      assertEquals(List.of("identity"), disk.names());
      for (int seed = 0; seed < 20; seed++) { // what was in place is durable, and whole
        disk.powerCut(new Random(seed));
        assertEquals(before + 1, identityOf(disk).incarnation());
      }
    }
  }

  @Test
  void identityThatNeedsRoomLeavesTheOldOneOnAFullDisk() throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    final String lines =
        "ringfetch-data 1\nid " + ID + "\nboot " + BOOT + "\nincarnation 2\n"; // no zeros
    final CRC32C checksum = new CRC32C();
    checksum.update(lines.getBytes(US_ASCII));
    final String text =
        lines + "crc32c " + HexFormat.of().toHexDigits((int) checksum.getValue()) + "\n";
    try (DiskFile file = disk.create("identity")) {
      file.write(0, ByteBuffer.wrap(text.getBytes(US_ASCII)));
      file.sync();
    }
    disk.syncDirectory();
    assertEquals(new Identity(ID, BOOT, Place.NONE, 2, 0), identityOf(disk));
    final IOException failure = writeOnAFullDisk(disk, 3);
    assertTrue(failure.getMessage().contains("no space left"), failure::getMessage);
    assertEquals(2, identityOf(disk).incarnation());
    assertEquals(List.of("identity"), disk.names());
  }

  @Test
  void aPowerCutInTheMidstLeavesTheOldIdentityOrTheNewOne() throws IOException {
    for (int seed = 0; seed < 50; seed++) {
      final SimulatedDisk disk = new SimulatedDisk();
      new Identity(ID, BOOT, PLACE, 2, 0).write(disk, "identity");
      disk.full(true);
      disk.failAfter(5, SimulatedDisk.Fault.IO_ERROR); // the sync of what is written in place
      assertThrows(
          IOException.class, () -> new Identity(ID, BOOT, PLACE, 3, 0).write(disk, "identity"));
      disk.powerCut(new Random(seed));
      final long incarnation = identityOf(disk).incarnation();
      assertTrue(incarnation == 2 || incarnation == 3, "seed=" + seed + " is " + incarnation);
    }
  }

  @Test
  void aStartThatCannotWriteNamesFileAndDirectory() throws IOException {
    open().close();
    Files.createDirectory(data.resolve("identity.new")); // in the way, and not to be removed
    Files.createFile(data.resolve("identity.new").resolve("file"));
    final IOException refusal = assertThrows(IOException.class, this::open);
    assertRefused("identity.new", refusal);
    assertRefused("data=" + data.toRealPath(), refusal);
    assertRefused("make room", refusal);
  }

  @Test
  void identityIsAsDescribed() throws IOException {
    String id;
    try (DataDirectory directory = open()) {
      id = directory.id();
    }
    List<String> lines = Files.readAllLines(data.resolve("identity"), US_ASCII);
    assertEquals(
        List.of(
            "ringfetch-data 1",
            "id " + id,
            "boot boot-1",
            String.format(
                "place %016x %016x",
                (Long) Files.getAttribute(data, "unix:dev"),
                (Long) Files.getAttribute(data, "unix:ino")),
            "incarnation 000000000000000001",
            "cluster 0000000000000000"),
        lines.subList(0, 6));
    assertTrue(lines.get(6).matches("crc32c [0-9a-f]{8}"), lines::toString);
    assertEquals(7, lines.size());
    assertEquals(
        new Identity(id, BOOT, Place.of(data), 1, 0),
        Identity.read(HostDisk.readOnly(data), "identity"));
  }

  @Test
  void aDirectoryIsOfOneClusterForItsLife() throws IOException {
    try (DataDirectory directory = open()) {
      assertEquals(0, directory.cluster());
      directory.join(0x1234);
      directory.join(0x1234);
      assertEquals(0x1234, directory.cluster());
    }
    try (DataDirectory again = open()) {
      assertEquals(2, again.incarnation());
      assertEquals(0x1234, again.cluster());
      again.join(0x1234);
      final IOException refusal = assertThrows(IOException.class, () -> again.join(0x5678));
      assertRefused("cluster=0000000000001234", refusal);
      assertRefused("cluster=0000000000005678", refusal);
      assertRefused("data=" + data.toRealPath(), refusal);
      assertEquals(0x1234, again.cluster());
    }
  }

  @Test
  void oneServerOwnsIt() throws Exception {
    DataDirectory owner = open();
    assertRefused("another server", assertThrows(IOException.class, this::open));
    Path link = Files.createSymbolicLink(parent.resolve("link"), data);
    assertRefused(
        "another server",
        assertThrows(IOException.class, () -> DataDirectory.open(link, Claim.NONE, BOOT)));
    assertEquals("another server owns the directory", openElsewhere());
    owner.close();
    owner.close();
    assertEquals("incarnation=2", openElsewhere());
    try (DataDirectory next = open()) {
      assertEquals(3, next.incarnation());
    }
  }

  /** Opens the directory in another process; returns what that says. */
  private String openElsewhere() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                DataDirectoryTest.class.getName(),
                data.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader output = process.inputReader(UTF_8)) {
      return output.readLine();
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** Opens the directory that the argument names, and ends as a killed process does. */
  public static void main(String[] args) {
    try {
      System.out.println(
          "incarnation=" + DataDirectory.open(Path.of(args[0]), Claim.NONE, BOOT).incarnation());
    } catch (IOException e) {
      System.out.println(e.getMessage().split(":", -1)[0]);
    }
    System.out.flush();
    Runtime.getRuntime().halt(1);
  }

  @Test
  void successorMovesTheGateWhenItIsReady() throws IOException {
    DataDirectory first = open();
    first.gate().move(first.incarnation());
    GateView reader = GateView.open(data.resolve("gate"));
    killed(first);

    DataDirectory second = open();
    assertEquals(2, second.incarnation());
    assertTrue(reader.isOpen(1), "the memory of a killed server is read until then");
    second.close(); // it could not serve
    assertTrue(reader.isOpen(1));

    DataDirectory third = open();
    assertEquals(3, third.incarnation());
    third.gate().move(3);
    assertFalse(reader.isOpen(1));
    assertTrue(reader.isOpen(3));
    third.close();
    assertFalse(reader.isOpen(3), "an orderly stop");
  }

  /** Gives the lock up without the orderly end, as the kernel does for a process. */
  private static void killed(DataDirectory directory) throws IOException {
    GatePage gate = directory.gate();
    long epoch = gate.epoch();
    byte[] page = Files.readAllBytes(gate.path());
    directory.close();
    try (FileChannel channel = FileChannel.open(gate.path(), StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(page), 0);
    }
    assertEquals(epoch, gate.epoch());
  }

  @Test
  void anotherBootNeedsATakeover() throws IOException {
    String id;
    try (DataDirectory directory = open()) {
      id = directory.id();
      directory.gate().move(1);
    }
    byte[] before = Files.readAllBytes(data.resolve("identity"));
    assertRefused(
        "--takeover",
        assertThrows(IOException.class, () -> DataDirectory.open(data, Claim.NONE, "boot-2")));
    assertArrayEquals(before, Files.readAllBytes(data.resolve("identity")));
    try (DataDirectory taken = DataDirectory.open(data, Claim.TAKEOVER, "boot-2")) {
      assertEquals(id, taken.id());
      assertEquals(2, taken.incarnation());
    }
    assertRefused("--takeover", assertThrows(IOException.class, this::open));
    try (DataDirectory second = DataDirectory.open(data, Claim.NONE, "boot-2")) {
      assertEquals(3, second.incarnation());
    }
  }

  private Path copy() throws IOException {
    final Path copy = Files.createDirectory(parent.resolve("copy"));
    try (Stream<Path> files = Files.list(data)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return copy;
  }

  @Test
  void aCopyIsRefusedUnlessItIsAdopted() throws IOException {
    open().close();
    final Path copy = copy();
    for (final Claim claim : List.of(Claim.NONE, Claim.TAKEOVER)) {
      assertRefused(
          "--adopt-copy",
          assertThrows(IOException.class, () -> DataDirectory.open(copy, claim, BOOT)));
    }
    try (DataDirectory original = open();
        DataDirectory adopted = DataDirectory.open(copy, Claim.COPY, "boot-2")) {
      assertEquals(2, original.incarnation());
      assertEquals(2, adopted.incarnation());
    }
    DataDirectory.open(copy, Claim.NONE, "boot-2").close(); // it is where it was
  }

  @Test
  void aMovedDirectoryIsTheSame() throws IOException {
    open().close();
    data = Files.move(data, parent.resolve("moved"));
    try (DataDirectory moved = open()) {
      assertEquals(2, moved.incarnation());
    }
  }

  /** Rewrites the identity as if the directory had been served at another place. */
  private void servedAt(String boot, Place place) throws IOException {
    final Identity last = Identity.read(HostDisk.readOnly(data), "identity");
    new Identity(last.id(), boot, place, last.incarnation(), 0)
        .write(new HostDisk(data), "identity");
  }

  @Test
  void anotherMountNeedsATakeover() throws IOException {
    open().close();
    final Place place = Place.of(data);
    final Place mounted = new Place(place.device() + 1, place.inode());
    servedAt(BOOT, mounted);
    assertRefused("--takeover", assertThrows(IOException.class, this::open));
    DataDirectory.open(data, Claim.TAKEOVER, BOOT).close();
    open().close();
    servedAt("boot-2", mounted); // the number of the device means nothing after a boot
    DataDirectory.open(data, Claim.TAKEOVER, BOOT).close();
    servedAt(BOOT, mounted);
    DataDirectory.open(data, Claim.COPY, BOOT).close();
    open().close();
    servedAt(BOOT, Place.NONE); // as of format 1
    open().close();
  }

  /** As while a slow disk notes the identity. */
  @Test
  void theLockThatCountsIsTheOneThatWasTaken() throws IOException {
    open().close();
    final Path file = data.resolve("lock");
    final DataDirectory.Lock lock = DataDirectory.lock(data);
    try {
      assertEquals(key(file), lock.key());
      Files.move(file, data.resolve("old"));
      Files.createFile(file);
      assertNotEquals(key(file), lock.key());
    } finally {
      lock.channel().close();
    }
  }

  private static Object key(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  @Test
  void aDirectoryWhoseLockWasDeletedNeedsATakeover() throws IOException {
    open().close();
    Files.delete(data.resolve("lock"));
    assertRefused("lock", assertThrows(IOException.class, this::open));
    assertFalse(Files.exists(data.resolve("lock")));
    DataDirectory.open(data, Claim.TAKEOVER, BOOT).close();
    open().close();
  }

  @Test
  void incarnationIsLaterThanTheGate() throws IOException {
    open().close();
    GatePage.open(data.resolve("gate")).move(41);
    try (DataDirectory directory = open()) {
      assertEquals(42, directory.incarnation());
    }
  }

  @Test
  void damageIsNamed() throws IOException {
    open().close();
    Path file = data.resolve("identity");
    byte[] right = Files.readAllBytes(file);
    for (int i = 0; i < right.length; i++) {
      byte[] wrong = right.clone();
      wrong[i] ^= 1;
      Files.write(file, wrong);
      assertRefused("identity", assertThrows(IOException.class, this::open, "offset=" + i));
    }
    for (int i = 0; i < right.length; i++) { // no character of any kind of text
      byte[] wrong = right.clone();
      wrong[i] ^= (byte) 0x80;
      Files.write(file, wrong);
      assertRefused(
          "file=" + file.toRealPath(), assertThrows(IOException.class, this::open, "offset=" + i));
    }
    for (byte[] wrong : List.of(new byte[0], new byte[5000], new byte[right.length])) {
      Files.write(file, wrong);
      assertRefused("identity", assertThrows(IOException.class, this::open));
    }
    Files.write(file, right);
    open().close();
    Files.delete(file);
    open().close(); // the gate was never moved
    GatePage.open(data.resolve("gate")).move(9);
    Files.delete(file);
    assertRefused("identity", assertThrows(IOException.class, this::open));
    Files.write(data.resolve("gate"), new byte[10]);
    assertRefused("gate", assertThrows(IOException.class, this::open));
  }

  @Test
  void otherFilesAreNotADirectory() throws IOException {
    Files.createFile(data);
    assertRefused("not a directory", assertThrows(IOException.class, this::open));
    assertThrows(
        IOException.class,
        () -> DataDirectory.open(parent.resolve("no/such/parent"), Claim.NONE, BOOT));
  }

  /**
   * The claim is refused before it changes anything: the node starts on its directory after that.
   */
  @Test
  void aNodesDirectoryIsNotTakenForACopy() throws IOException {
    try (DataDirectory directory = open()) {
      directory.join(0x1234);
    }
    final byte[] identity = Files.readAllBytes(data.resolve("identity"));
    final IOException refusal =
        assertThrows(IOException.class, () -> DataDirectory.open(data, Claim.COPY, BOOT));
    assertTrue(
        refusal.getMessage().contains("node of cluster=0000000000001234"), refusal::toString);
    assertArrayEquals(identity, Files.readAllBytes(data.resolve("identity")));
    Files.createFile(data.resolve("coordinator")); // one that is alone
    DataDirectory.open(data, Claim.COPY, BOOT).close();
  }

  @Test
  void whatAFailedBackupHasLeftIsNoNewDirectory() throws IOException {
    Files.createDirectory(data);
    Files.createFile(data.resolve("coordinator"));
    assertTrue(
        assertThrows(IOException.class, this::open).getMessage().contains("a backup has left"));
    Files.delete(data.resolve("coordinator"));
    open().close();
  }
}

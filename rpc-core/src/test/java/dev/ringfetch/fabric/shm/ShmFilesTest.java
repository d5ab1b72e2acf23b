package dev.ringfetch.fabric.shm;

import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.FabricHarness.token;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.FabricHarness.Offered;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What shm leaves in the file system, to whom it is open, and when it goes. */
class ShmFilesTest {
  private static final long WHOLE_FILE = SessionFile.HEADER_LENGTH + LENGTH;

  @TempDir Path parent;

  private FabricHarness harness;

  @BeforeEach
  void open() throws IOException {
    harness = new FabricHarness(openFabric(parent), openFabric(parent));
  }

  @AfterEach
  void close() {
    harness.close();
  }

  private static Fabric openFabric(Path parent) throws IOException {
    return new ShmProvider().open(new FabricContext().directory(parent));
  }

  private Path root() throws IOException {
    return parent.resolve("ringfetch-" + Files.getAttribute(parent, "unix:uid"));
  }

  private static List<Path> list(Path directory) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(entries::add);
    }
    entries.sort(null);
    return entries;
  }

  private Path processDirectory() throws IOException {
    List<Path> entries = list(root());
    assertEquals(2, entries.size(), entries::toString);
    assertEquals(entries.get(0) + ".lock", entries.get(1).toString());
    return entries.get(0);
  }

  private Path sessionFile() throws IOException {
    return processDirectory().resolve("session-0");
  }

  private static void assertMode(String mode, Path path) throws IOException {
    assertEquals(mode, PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
  }

  @Test
  void nothingIsThereBeforeTheFirstOffer() throws IOException {
    assertEquals(List.of(), list(parent));
  }

  @Test
  void allIsOpenToThisUserOnly() throws IOException {
    harness.offer(token("a"));
    assertMode("rwx------", root());
    assertMode("rwx------", processDirectory());
    assertMode("rw-------", Path.of(processDirectory() + ".lock"));
    assertMode("rw-------", sessionFile());
    assertEquals(WHOLE_FILE, Files.size(sessionFile()));
    assertEquals(
        List.of(
            processDirectory().resolve("alive"),
            processDirectory().resolve("bell-0"),
            sessionFile()),
        list(processDirectory()));
  }

  @Test
  void fileLosesItsNameWhenThePeerConnects() throws IOException {
    Offered offered = harness.offer(token("a"));
    assertTrue(Files.exists(sessionFile()));
    harness.connect(offered.offer.descriptor(), token("a"));
    assertFalse(Files.exists(sessionFile()));
  }

  @Test
  void withdrawnOfferGivesItsMemoryBack() throws IOException {
    Offered offered = harness.offer(token("a"));
    try (FileChannel watch = FileChannel.open(sessionFile())) {
      offered.offer.close();
      assertFalse(Files.exists(sessionFile()));
      assertEquals(0, watch.size());
    }
  }

  @Test
  void closedFabricLeavesNothing() throws IOException {
    harness.connect("a");
    harness.offer(token("b"));
    harness.server.close();
    assertEquals(List.of(), list(root()));
  }

  @Test
  void memoryGoesWhenTheOwnerIsTheLastToClose() throws IOException {
    Offered offered = harness.offer(token("a"));
    try (FileChannel watch = FileChannel.open(sessionFile())) {
      Connection connection = connect(offered);
      connection.client().close();
      harness.drive(() -> connection.toldServer().ends.size() == 1);
      assertEquals(WHOLE_FILE, watch.size());
      connection.server().close();
      assertEquals(0, watch.size());
    }
  }

  @Test
  void memoryStaysUntilThePeerHasClosedToo() throws IOException {
    Offered offered = harness.offer(token("a"));
    try (FileChannel watch = FileChannel.open(sessionFile())) {
      Connection connection = connect(offered);
      connection.server().close();
      harness.drive(() -> connection.toldClient().ends.size() == 1);
      harness.settle();
      assertEquals(WHOLE_FILE, watch.size());
      // The peer may be inside until it closes, even when it knows that the owner has closed.
      connection.client().memory().putLong(0, 1);
      connection.client().close();
      harness.serverBell.close();
      assertEquals(0, watch.size());
    }
  }

  @Test
  void closedDoorbellTakesNoMemoryFromAPeer() throws IOException {
    Offered offered = harness.offer(token("a"));
    try (FileChannel watch = FileChannel.open(sessionFile())) {
      Connection connection = connect(offered);
      connection.server().close();
      harness.serverBell.close();
      assertEquals(WHOLE_FILE, watch.size());
      connection.client().memory().putLong(0, 1);
      harness.clientBell.poll();
      assertEquals(1, connection.toldClient().ends.size());
    }
  }

  private Connection connect(Offered offered) throws IOException {
    return FabricHarness.bind(offered, harness.connect(offered.offer.descriptor(), token("a")));
  }

  @Test
  void fileThatIsNotTheOneOfferedIsRefused() throws IOException {
    Offered offered = harness.offer(token("a"));
    byte[] descriptor = offered.offer.descriptor();
    Path file = sessionFile();
    Path moved = file.resolveSibling("moved");

    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    assertRefused(descriptor, "mode=0100644");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

    Files.move(file, moved);
    assertRefused(descriptor, "there is no");
    Files.createSymbolicLink(file, moved);
    assertRefused(descriptor, "regular file");
    Files.delete(file);

    SessionFile.create(file, LENGTH, Nonce.random()).close();
    assertRefused(descriptor, "not the file that was offered");
    Files.delete(file);
    SessionFile.create(file, LENGTH + 64, Nonce.random()).close();
    assertRefused(descriptor, "size=");
    Files.delete(file);

    Files.move(moved, file);
    harness.connect(descriptor, token("a"));
    assertEquals(1, offered.arrived.size());
  }

  private void assertRefused(byte[] descriptor, String reason) {
    IOException refusal =
        assertThrows(IOException.class, () -> harness.connect(descriptor, token("a")));
    assertTrue(refusal.getMessage().contains(reason), refusal.getMessage());
  }

  @Test
  void rootThatIsNotThisUsersAloneIsRefused() throws IOException {
    Path root = root();
    Files.createDirectory(root);
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertNotOpened();
    assertThrows(IOException.class, () -> harness.offer(token("a")));
    Files.delete(root);

    Path elsewhere =
        Files.createDirectory(parent.resolve("elsewhere"), Ownership.privateDirectory());
    Files.createSymbolicLink(root, elsewhere);
    assertNotOpened();
    assertThrows(IOException.class, () -> harness.offer(token("a")));
    assertEquals(List.of(), list(elsewhere));
  }

  private void assertNotOpened() {
    IOException refusal = assertThrows(IOException.class, () -> openFabric(parent));
    assertTrue(refusal.getMessage().contains("mode=0"), refusal.getMessage());
  }

  @Test
  void missingDirectoryIsRefused() {
    Path missing = parent.resolve("missing");
    IOException refusal = assertThrows(IOException.class, () -> openFabric(missing));
    assertTrue(refusal.getMessage().contains(missing.toString()), refusal.getMessage());
  }

  @Test
  void pathTooLongForASocketIsRefused() throws IOException {
    Path deep = Files.createDirectory(parent.resolve("d".repeat(90)));
    IOException refusal = assertThrows(IOException.class, () -> openFabric(deep));
    String path = deep + "/ringfetch-" + Files.getAttribute(parent, "unix:uid") + "/";
    assertTrue(refusal.getMessage().contains("path=" + path), refusal.getMessage());
    assertTrue(refusal.getMessage().contains(" length="), refusal.getMessage());
    assertTrue(refusal.getMessage().endsWith(" limit=107"), refusal.getMessage());
    assertEquals(List.of(), list(deep));
  }

  /** As systemd does at logout: whatever the user has, at once. */
  @Test
  void deletedDirectoryIsReplaced() throws IOException {
    Connection open = harness.connect("a");
    Path first = processDirectory();
    Sweep.deleteDirectory(first);
    Cleanup.delete(Path.of(first + ".lock"));
    Cleanup.delete(root());
    Connection next = harness.connect("b");
    assertNotEquals(first, processDirectory());
    for (Connection connection : List.of(open, next)) {
      connection.client().ringDoorbell();
      harness.drive(() -> connection.toldServer().rings == 1);
      connection.client().memory().putLong(0, 7);
      assertEquals(7, connection.server().memory().getLong(0));
    }
  }

  /** As a cleaner of old files does. */
  @ParameterizedTest
  @ValueSource(strings = {"/bell-0", ".lock"})
  void deletedFileIsReplaced(String file) throws IOException {
    harness.connect("a");
    Files.delete(Path.of(processDirectory() + file));
    harness.connect("b");
    harness.connect("c");
    assertEquals(2, list(root()).size());
  }

  @Test
  void descriptorsHoldNoPaths() throws IOException {
    byte[] descriptor = harness.offer(token("a")).offer.descriptor();
    assertFalse(new String(descriptor, ISO_8859_1).contains(parent.toString()));
    SessionAddress address = SessionAddress.decode(descriptor);
    for (String name : List.of("..", "", "1-0123456789abcde", "1-0123456789abcdef/..")) {
      SessionAddress bad = new SessionAddress(name, 0, 0, LENGTH, address.nonce());
      assertThrows(IOException.class, () -> SessionAddress.decode(bad.encode()));
    }
    assertEquals(address, SessionAddress.decode(address.encode()));
  }
}

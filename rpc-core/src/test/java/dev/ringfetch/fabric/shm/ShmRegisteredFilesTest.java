package dev.ringfetch.fabric.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import java.io.IOException;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of registered memory: to whom they are open, and when their pages go. */
class ShmRegisteredFilesTest {
  private static final int LENGTH = 64 * 1024;
  private static final long WHOLE_FILE = SessionFile.HEADER_LENGTH + LENGTH;

  @TempDir Path parent;

  private FabricHarness harness;
  private Connection connection;

  @BeforeEach
  void open() throws IOException {
    harness = new FabricHarness(openFabric(), openFabric());
    connection = harness.connect("a");
  }

  @AfterEach
  void close() {
    harness.close();
  }

  private Fabric openFabric() throws IOException {
    return new ShmProvider().open(new FabricContext().directory(parent));
  }

  private QueuePair side(String name) {
    return "server".equals(name) ? connection.server() : connection.client();
  }

  private QueuePair other(String name) {
    return "server".equals(name) ? connection.client() : connection.server();
  }

  private List<Path> registeredFiles() throws IOException {
    try (Stream<Path> tree = Files.walk(parent)) {
      return tree.filter(path -> path.getFileName().toString().startsWith("registered-")).toList();
    }
  }

  /** The one file that has a name: the session's own has lost it. */
  private Path file() throws IOException {
    List<Path> files = registeredFiles();
    assertEquals(1, files.size(), files::toString);
    return files.get(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "client"})
  void fileIsThisUsersAloneAndLosesItsNameWhenSettled(String owner) throws IOException {
    assertEquals(List.of(), registeredFiles());
    RegisteredMemory memory = side(owner).register(LENGTH);
    Path file = file();
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals(
        "rwx------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
    assertEquals(WHOLE_FILE, Files.size(file));
    other(owner).attach(memory.descriptor(), LENGTH);
    assertTrue(Files.exists(file), "attached, and not said to be");
    memory.settled();
    assertFalse(Files.exists(file));
  }

  @Test
  void thePeerOnlyReadsIt() throws IOException {
    RegisteredMemory memory = connection.server().register(LENGTH);
    MemoryRegion attached = connection.client().attach(memory.descriptor(), LENGTH);
    assertThrows(ReadOnlyBufferException.class, () -> attached.putLong(0, 1));
    assertEquals(0, memory.region().getLong(0));
  }

  @Test
  void fileThatOthersMayOpenIsRefused() throws IOException {
    RegisteredMemory memory = connection.server().register(LENGTH);
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-rw----"));
    IOException refusal =
        assertThrows(
            IOException.class, () -> connection.client().attach(memory.descriptor(), LENGTH));
    assertTrue(refusal.getMessage().contains("mode=0100660"), refusal.getMessage());
  }

  @Test
  void descriptorOfASessionOnOfferIsRefused() throws IOException {
    byte[] offered = harness.offer(FabricHarness.token("b")).offer.descriptor();
    assertThrows(
        IOException.class, () -> connection.client().attach(offered, FabricHarness.LENGTH));
  }

  @Test
  void nobodyConnectsToRegisteredMemory() throws IOException {
    byte[] descriptor = connection.server().register(LENGTH).descriptor();
    IOException refusal =
        assertThrows(
            IOException.class, () -> harness.connect(descriptor, FabricHarness.token("a")));
    assertTrue(refusal.getMessage().contains("not a session"), refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "client"})
  void pagesGoWhenBothSidesHaveClosed(String owner) throws IOException {
    RegisteredMemory memory = side(owner).register(LENGTH);
    try (FileChannel watch = FileChannel.open(file())) {
      MemoryRegion attached = other(owner).attach(memory.descriptor(), LENGTH);
      memory.settled();
      side(owner).close();
      harness.settle();
      assertEquals(WHOLE_FILE, watch.size());
      assertEquals(0, attached.getLong(0)); // the peer may be inside until it closes
      other(owner).close();
      harness.drive(() -> size(watch) == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "client"})
  void pagesGoWhenTheOwnerIsTheLastToClose(String owner) throws IOException {
    RegisteredMemory memory = side(owner).register(LENGTH);
    try (FileChannel watch = FileChannel.open(file())) {
      memory.settled();
      other(owner).close();
      harness.settle();
      assertEquals(WHOLE_FILE, watch.size());
      side(owner).close();
      assertEquals(0, watch.size());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "client"})
  void pagesThatAreKeptAreThereForWhoeverIsInside(String owner) throws IOException {
    RegisteredMemory kept = side(owner).register(LENGTH);
    try (FileChannel watchKept = FileChannel.open(file())) {
      kept.settled();
      RegisteredMemory other = side(owner).register(LENGTH);
      try (FileChannel watchOther = FileChannel.open(file())) {
        other.settled();
        kept.keep();
        kept.keep();
        other(owner).close();
        harness.settle();
        side(owner).close();
        assertEquals(0, watchOther.size());
        assertEquals(WHOLE_FILE, watchKept.size());
        kept.buffer(0, LENGTH).putLong(8, 42);
        assertEquals(42, kept.buffer(8, 8).getLong());
      }
    }
    assertEquals(List.of(), registeredFiles());
  }

  /** Nobody has attached it, and nobody ever will. */
  @ParameterizedTest
  @ValueSource(strings = {"server", "client"})
  void memoryThatNobodyAskedForGoesWithTheConnection(String owner) throws IOException {
    side(owner).register(LENGTH);
    try (FileChannel watch = FileChannel.open(file())) {
      other(owner).close();
      harness.settle();
      side(owner).close();
      assertEquals(0, watch.size());
      assertEquals(List.of(), registeredFiles());
    }
  }

  @Test
  void refusedRegistrationLeavesNothing() throws IOException {
    connection.client().close();
    assertThrows(IOException.class, () -> connection.client().register(LENGTH));
    assertEquals(List.of(), registeredFiles());
  }

  @Test
  void closedFabricLeavesNothing() throws IOException {
    connection.server().register(LENGTH).keep();
    connection.client().register(LENGTH);
    harness.server.close();
    harness.client.close();
    assertEquals(List.of(), registeredFiles());
  }

  private static long size(FileChannel watch) {
    try {
      return watch.size();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}

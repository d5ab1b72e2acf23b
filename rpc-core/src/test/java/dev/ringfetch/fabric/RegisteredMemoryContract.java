package dev.ringfetch.fabric;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricHarness.Connection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Memory that one side registers beyond the session's, and that its peer alone reaches. */
public abstract class RegisteredMemoryContract extends FabricContract {
  private static final int SIZE = 16 * 1024;

  @Test
  void whatOneSideWritesThePeerReads() throws IOException {
    Connection connection = harness.connect("a");
    assertCarries(connection.server(), connection.client(), 1);
    assertCarries(connection.client(), connection.server(), 2);
  }

  private static void assertCarries(QueuePair owner, QueuePair peer, int seed) throws IOException {
    RegisteredMemory memory = owner.register(SIZE);
    MemoryRegion attached = peer.attach(memory.descriptor(), SIZE);
    for (int round = 0; round < 2; round++) {
      byte[] written = bytes(seed + 10 * round, SIZE);
      memory.region().putBytes(0, written, 0, SIZE);
      memory.region().fullFence();
      assertArrayEquals(written, all(attached));
      memory.settled(); // ends nothing but the descriptor
    }
  }

  @Test
  void memoryIsZeroedAndAsLongAsAskedFor() throws IOException {
    Connection connection = harness.connect("a");
    for (int length : new int[] {64, 4096, 4096 + 64, 1024 * 1024}) {
      RegisteredMemory memory = connection.server().register(length);
      MemoryRegion attached = connection.client().attach(memory.descriptor(), length);
      assertArrayEquals(new byte[length], all(memory.region()));
      assertArrayEquals(new byte[length], all(attached));
    }
  }

  @Test
  void regionsOfBothSidesAreApart() throws IOException {
    Connection connection = harness.connect("a");
    List<MemoryRegion> attached = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      boolean isServers = i % 2 == 0;
      QueuePair owner = isServers ? connection.server() : connection.client();
      QueuePair peer = isServers ? connection.client() : connection.server();
      RegisteredMemory memory = owner.register(SIZE);
      memory.region().putBytes(0, bytes(i, SIZE), 0, SIZE);
      memory.region().fullFence();
      attached.add(peer.attach(memory.descriptor(), SIZE));
    }
    for (int i = 0; i < 6; i++) {
      assertArrayEquals(bytes(i, SIZE), all(attached.get(i)), "region " + i);
    }
    byte[] rings = all(connection.server().memory());
    assertArrayEquals(new byte[rings.length], rings, "the session's own");
  }

  @Test
  void theApplicationsViewIsTheSameMemory() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.client().register(SIZE);
    MemoryRegion attached = connection.server().attach(memory.descriptor(), SIZE);
    byte[] text = "filled in place".getBytes(UTF_8);
    assertEquals(text.length, memory.buffer(4096, text.length).put(text).capacity());
    memory.region().fullFence();
    byte[] seen = new byte[text.length];
    attached.getBytes(4096, seen, 0, seen.length);
    assertArrayEquals(text, seen);
    assertThrows(IndexOutOfBoundsException.class, () -> memory.buffer(SIZE - 8, 16));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.buffer(-1, 8));
  }

  @Test
  void garbageLeadsNowhereAndDisturbsNobody() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.server().register(SIZE);
    byte[] right = memory.descriptor();
    List<byte[]> garbage =
        List.of(
            new byte[0],
            new byte[1],
            "nonsense".getBytes(UTF_8),
            new byte[4096],
            Arrays.copyOf(right, right.length - 1),
            Arrays.copyOf(right, right.length + 1));
    for (byte[] descriptor : garbage) {
      assertRefused(connection.client(), descriptor, SIZE);
    }
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      byte[] mutant = right.clone();
      mutant[random.nextInt(mutant.length)] ^= (byte) (1 + random.nextInt(255));
      assertRefused(connection.client(), mutant, SIZE, "seed=" + seed + " mutant=" + i);
    }
    assertNotNull(connection.client().attach(right, SIZE));
    connection.client().ringDoorbell();
    harness.drive(() -> connection.toldServer().rings > 0);
    assertTrue(connection.toldServer().ends.isEmpty());
    assertTrue(connection.toldClient().ends.isEmpty());
  }

  @Test
  void memoryLongerThanThePeerTakesIsRefused() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.server().register(SIZE);
    assertRefused(connection.client(), memory.descriptor(), SIZE - 1);
    assertEquals(SIZE, connection.client().attach(memory.descriptor(), SIZE).length());
  }

  @Test
  void anotherConnectionsIsRefused() throws IOException {
    Connection first = harness.connect("a");
    Connection second = harness.connect("b");
    RegisteredMemory servers = second.server().register(SIZE);
    RegisteredMemory clients = second.client().register(SIZE);
    assertRefused(first.client(), servers.descriptor(), SIZE);
    assertRefused(first.server(), clients.descriptor(), SIZE);
    assertNotNull(second.client().attach(servers.descriptor(), SIZE));
    assertNotNull(second.server().attach(clients.descriptor(), SIZE));
  }

  @Test
  void noDescriptorLeadsToWhatIsSettled() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.server().register(SIZE);
    byte[] descriptor = memory.descriptor();
    MemoryRegion attached = connection.client().attach(descriptor, SIZE);
    memory.settled();
    memory.settled();
    assertRefused(connection.client(), descriptor, SIZE);
    memory.region().putLongRelease(0, 42);
    memory.region().fullFence();
    assertEquals(42, attached.getLongAcquire(0));
  }

  @Test
  void aSideThatHasClosedNeitherRegistersNorAttaches() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.server().register(SIZE);
    connection.client().close();
    assertThrows(IOException.class, () -> connection.client().register(SIZE));
    assertRefused(connection.client(), memory.descriptor(), SIZE);
    harness.drive(() -> !connection.toldServer().ends.isEmpty());
    assertThrows(IOException.class, () -> connection.server().register(SIZE));
    connection.server().close();
    assertThrows(IOException.class, () -> connection.server().register(SIZE));
    memory.keep(); // too late for both, and of no harm
    memory.settled();
    assertFalse(connection.toldServer().ends.isEmpty());
  }

  @Test
  void lengthsAreChecked() throws IOException {
    Connection connection = harness.connect("a");
    for (int length : new int[] {Integer.MIN_VALUE, -64, 0, 63, 65}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> connection.server().register(length),
          "length=" + length);
    }
  }

  private static void assertRefused(QueuePair side, byte[] descriptor, int maxLength) {
    assertRefused(side, descriptor, maxLength, "descriptor=" + Arrays.toString(descriptor));
  }

  private static void assertRefused(QueuePair side, byte[] descriptor, int maxLength, String what) {
    IOException refusal =
        assertThrows(IOException.class, () -> side.attach(descriptor, maxLength), what);
    assertNotNull(refusal.getMessage(), what);
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] all(MemoryRegion region) {
    byte[] bytes = new byte[region.length()];
    region.getBytes(0, bytes, 0, bytes.length);
    return bytes;
  }
}

package dev.ringfetch.fabric;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.fabric.FabricHarness.Connection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Memory that one side registers beyond the session's, and that its peer alone reaches: by loads,
 * or by READs where it cannot load.
 */
public abstract class RegisteredMemoryContract extends FabricContract {
  private static final int SIZE = 16 * 1024;

  /** What a peer sees of memory that it has attached. */
  private interface Seen {
    byte[] all() throws IOException;
  }

  private Seen attach(QueuePair side, byte[] descriptor, int maxLength) throws IOException {
    if (side.capabilities().loadStore()) {
      MemoryRegion attached = side.attach(descriptor, maxLength);
      return () -> all(attached);
    }
    RemoteMemory attached = side.attachRemote(descriptor, maxLength);
    return () -> read(side, attached);
  }

  private byte[] read(QueuePair side, RemoteMemory memory) throws IOException {
    int length = (int) memory.length();
    MemoryRegion local = side.scratch(length);
    assertEquals(QueuePair.POSTED, side.read(memory, 0, local, 0, length, 0, 7));
    long[] completion = harness.completions(side, 1).get(0);
    assertArrayEquals(new long[] {7, QueuePair.SUCCESS, length}, completion);
    return all(local);
  }

  @Test
  void whatOneSideWritesThePeerReads() throws IOException {
    Connection connection = harness.connect("a");
    assertCarries(connection.server(), connection.client(), 1);
    assertCarries(connection.client(), connection.server(), 2);
  }

  private void assertCarries(QueuePair owner, QueuePair peer, int seed) throws IOException {
    RegisteredMemory memory = owner.register(SIZE);
    Seen attached = attach(peer, memory.descriptor(), SIZE);
    for (int round = 0; round < 2; round++) {
      byte[] written = bytes(seed + 10 * round, SIZE);
      memory.region().putBytes(0, written, 0, SIZE);
      memory.region().fullFence();
      assertArrayEquals(written, attached.all());
      memory.settled(); // ends nothing but the descriptor
    }
  }

  @Test
  void memoryIsZeroedAndAsLongAsAskedFor() throws IOException {
    Connection connection = harness.connect("a");
    for (int length : new int[] {64, 4096, 4096 + 64, 1024 * 1024}) {
      RegisteredMemory memory = connection.server().register(length);
      Seen attached = attach(connection.client(), memory.descriptor(), length);
      assertArrayEquals(new byte[length], all(memory.region()));
      assertArrayEquals(new byte[length], attached.all());
    }
  }

  @Test
  void regionsOfBothSidesAreApart() throws IOException {
    Connection connection = harness.connect("a");
    List<Seen> attached = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      boolean isServers = i % 2 == 0;
      QueuePair owner = isServers ? connection.server() : connection.client();
      QueuePair peer = isServers ? connection.client() : connection.server();
      RegisteredMemory memory = owner.register(SIZE);
      memory.region().putBytes(0, bytes(i, SIZE), 0, SIZE);
      memory.region().fullFence();
      attached.add(attach(peer, memory.descriptor(), SIZE));
    }
    for (int i = 0; i < 6; i++) {
      assertArrayEquals(bytes(i, SIZE), attached.get(i).all(), "region " + i);
    }
    byte[] rings = all(connection.server().memory());
    assertArrayEquals(new byte[rings.length], rings, "the session's own");
  }

  @Test
  void theApplicationsViewIsTheSameMemory() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.client().register(SIZE);
    Seen attached = attach(connection.server(), memory.descriptor(), SIZE);
    byte[] text = "filled in place".getBytes(UTF_8);
    assertEquals(text.length, memory.buffer(4096, text.length).put(text).capacity());
    memory.region().fullFence();
    assertArrayEquals(text, Arrays.copyOfRange(attached.all(), 4096, 4096 + text.length));
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
    assertNotNull(attach(connection.client(), right, SIZE));
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
    assertEquals(SIZE, attach(connection.client(), memory.descriptor(), SIZE).all().length);
  }

  @Test
  void anotherConnectionsIsRefused() throws IOException {
    Connection first = harness.connect("a");
    Connection second = harness.connect("b");
    RegisteredMemory servers = second.server().register(SIZE);
    RegisteredMemory clients = second.client().register(SIZE);
    assertRefused(first.client(), servers.descriptor(), SIZE);
    assertRefused(first.server(), clients.descriptor(), SIZE);
    assertNotNull(attach(second.client(), servers.descriptor(), SIZE));
    assertNotNull(attach(second.server(), clients.descriptor(), SIZE));
  }

  @Test
  void noDescriptorLeadsToWhatIsSettled() throws IOException {
    Connection connection = harness.connect("a");
    RegisteredMemory memory = connection.server().register(SIZE);
    byte[] descriptor = memory.descriptor();
    Seen attached = attach(connection.client(), descriptor, SIZE);
    memory.settled();
    memory.settled();
    assertRefused(connection.client(), descriptor, SIZE);
    memory.region().putLongRelease(0, 42);
    memory.region().fullFence();
    assertEquals(42, attached.all()[0]);
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

  /** By loads, or by READs, and never both. */
  @Test
  void thereIsOneWayToTheMemory() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    byte[] descriptor = connection.server().register(SIZE).descriptor();
    if (client.capabilities().loadStore()) {
      assertThrows(IOException.class, () -> client.attachRemote(descriptor, SIZE));
    } else {
      assertThrows(IOException.class, () -> client.attach(descriptor, SIZE));
    }
    assertNotNull(attach(client, descriptor, SIZE));
  }

  /** Any range of whole words, of memory that was attached, is read; in the order of posting. */
  @Test
  void rangesAreReadAndOthersRefused() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    assumeTrue(!client.capabilities().loadStore(), "loaded from");
    RegisteredMemory memory = connection.server().register(SIZE);
    byte[] written = bytes(5, SIZE);
    memory.region().putBytes(0, written, 0, SIZE);
    memory.region().fullFence();
    RemoteMemory attached = client.attachRemote(memory.descriptor(), SIZE);
    MemoryRegion local = client.scratch(SIZE);
    int[][] ranges = {{0, 8}, {8, 64}, {4096, 8192}, {SIZE - 8, 8}, {SIZE - 4096, 4096}};
    int at = 0;
    for (int i = 0; i < ranges.length; i++) {
      int[] range = ranges[i];
      assertEquals(QueuePair.POSTED, client.read(attached, range[0], local, at, range[1], 0, i));
      at += range[1];
    }
    List<long[]> completions = harness.completions(client, ranges.length);
    at = 0;
    for (int i = 0; i < ranges.length; i++) {
      int[] range = ranges[i];
      assertArrayEquals(new long[] {i, QueuePair.SUCCESS, range[1]}, completions.get(i));
      byte[] seen = Arrays.copyOfRange(all(local), at, at + range[1]);
      assertArrayEquals(Arrays.copyOfRange(written, range[0], range[0] + range[1]), seen);
      at += range[1];
    }
    for (int[] range : new int[][] {{-8, 8}, {SIZE, 8}, {SIZE - 8, 16}, {4, 8}, {0, 12}}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> client.read(attached, range[0], local, 0, range[1], 0, 1),
          "range=" + Arrays.toString(range));
    }
    RemoteMemory unknown = new RemoteMemory(attached.address(), SIZE, attached.rkey() + 1);
    assertThrows(IllegalArgumentException.class, () -> client.read(unknown, 0, local, 0, 8, 0, 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> connection.server().read(attached, 0, local, 0, 8, 0, 1));
  }

  /** Each READ completes, as done or as flushed, and the listener is told. */
  @Test
  void readsOfAPeerThatEndsComplete() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    assumeTrue(!client.capabilities().loadStore(), "loaded from");
    RegisteredMemory memory = connection.server().register(SIZE);
    RemoteMemory attached = client.attachRemote(memory.descriptor(), SIZE);
    MemoryRegion local = client.scratch(SIZE);
    for (int i = 0; i < 4; i++) {
      assertEquals(QueuePair.POSTED, client.read(attached, 0, local, 0, SIZE, 0, i));
    }
    connection.server().close();
    List<long[]> completions = harness.completions(client, 4);
    boolean flushed = false;
    for (int i = 0; i < 4; i++) {
      assertEquals(i, completions.get(i)[0]);
      assertTrue(!flushed || completions.get(i)[1] == QueuePair.FLUSHED, "done after the end");
      flushed = completions.get(i)[1] == QueuePair.FLUSHED;
    }
    harness.drive(() -> !connection.toldClient().ends.isEmpty());
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

  private void assertRefused(QueuePair side, byte[] descriptor, int maxLength) {
    assertRefused(side, descriptor, maxLength, "descriptor=" + Arrays.toString(descriptor));
  }

  private void assertRefused(QueuePair side, byte[] descriptor, int maxLength, String what) {
    IOException refusal =
        assertThrows(IOException.class, () -> attach(side, descriptor, maxLength), what);
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

package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.FabricHarness.token;
import static dev.ringfetch.fabric.QueuePair.POSTED;
import static dev.ringfetch.fabric.QueuePair.SEND_QUEUE_FULL;
import static dev.ringfetch.fabric.QueuePair.SUCCESS;
import static dev.ringfetch.fabric.QueuePair.UNSIGNALED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.FabricHarness.Offered;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory, and the work requests on it. */
public abstract class MemoryContract extends FabricContract {

  @Test
  void memoryIsZeroed() throws IOException {
    Offered offered = harness.offer(token("a"));
    assertZeroed(offered.offer.memory());
    assertZeroed(harness.connect("b").client().memory());
  }

  private static void assertZeroed(MemoryRegion memory) {
    byte[] bytes = new byte[memory.length()];
    memory.getBytes(0, bytes, 0, bytes.length);
    assertArrayEquals(new byte[memory.length()], bytes);
  }

  @Test
  void whatIsWrittenBecomesVisible() throws IOException {
    Connection connection = harness.connect("a");
    byte[] body = "a frame's body".getBytes(UTF_8);
    MemoryRegion view = connection.client().memory();
    view.putBytes(128, body, 0, body.length);
    view.putLongRelease(128 + 56, 42);
    assertEquals(POSTED, connection.client().write(128, 64));

    MemoryRegion memory = connection.server().memory();
    harness.drive(() -> memory.getLongAcquire(128 + 56) == 42);
    byte[] seen = new byte[body.length];
    memory.getBytes(128, seen, 0, seen.length);
    assertArrayEquals(body, seen);
  }

  @Test
  void corkedRequestsExecuteInTheirOrder() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    MemoryRegion scratch = client.scratch(64);
    for (int round = 1; round <= 3; round++) {
      client.cork();
      for (int line = 0; line < 20; line++) {
        client.memory().putLongRelease(line * 64, round);
        assertEquals(POSTED, client.write(line * 64, 64));
      }
      assertEquals(POSTED, client.read(client.remote(), 19 * 64, scratch, 0, 64, 0, round));
      client.uncork();
      assertArrayEquals(new long[] {round, SUCCESS, 64}, harness.completions(client, 1).get(0));
      assertEquals(round, scratch.getLong(0));
    }
    client.uncork(); // nothing waits
  }

  @Test
  void corkedRequestsDoNotWaitLongerThanARing() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    client.cork();
    client.memory().putLongRelease(128, 7);
    assertEquals(POSTED, client.write(128, 64));
    client.ringDoorbell();
    harness.drive(() -> connection.toldServer().rings == 1);
    assertEquals(7, connection.server().memory().getLongAcquire(128));
    client.uncork();
  }

  @Test
  void readFetchesARange() throws IOException {
    Connection connection = harness.connect("a");
    MemoryRegion memory = connection.server().memory();
    for (int i = 0; i < 64; i += Long.BYTES) {
      memory.putLong(256 + i, 1000 + i);
    }
    QueuePair client = connection.client();
    for (int first = 0; first < 64; first += Long.BYTES) {
      int target = 1024 + 64 * first;
      assertEquals(
          POSTED, client.read(client.remote(), 256, client.memory(), target, 64, first, first));
      long[] completion = harness.completions(client, 1).get(0);
      assertArrayEquals(new long[] {first, SUCCESS, 64}, completion);
      for (int i = 0; i < 64; i += Long.BYTES) {
        assertEquals(1000 + i, client.memory().getLong(target + i));
      }
      assertEquals(0, client.memory().getLong(target + 64));
    }
  }

  @Test
  void readsLandInScratchThatNobodyElseReaches() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    connection.server().memory().putLongRelease(256, 7);
    MemoryRegion scratch = client.scratch(128);
    assertEquals(128, scratch.length());
    assertZeroed(scratch);
    assertEquals(POSTED, client.read(client.remote(), 256, scratch, 64, 64, 0, 1));
    assertArrayEquals(new long[] {1, SUCCESS, 64}, harness.completions(client, 1).get(0));
    assertEquals(7, scratch.getLong(64));
    assertEquals(0, scratch.getLong(0));
    assertZeroed(client.scratch(64));

    assertThrows(IllegalArgumentException.class, () -> client.scratch(0));
    assertThrows(IllegalArgumentException.class, () -> client.scratch(65));
    client.close();
    assertThrows(IOException.class, () -> client.scratch(64));
  }

  @Test
  void atomicsReturnTheFormerWordAndCompleteInOrder() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    RemoteMemory remote = client.remote();
    connection.server().memory().putLongRelease(64, 10);
    assertEquals(POSTED, client.compareAndSwap(remote, 64, 10, 20, 1));
    assertEquals(POSTED, client.compareAndSwap(remote, 64, 10, 30, 2));
    assertEquals(POSTED, client.fetchAndAdd(remote, 64, 5, UNSIGNALED));
    assertEquals(POSTED, client.fetchAndAdd(remote, 64, -1, 3));
    List<long[]> completions = harness.completions(client, 3);
    assertArrayEquals(new long[] {1, SUCCESS, 10}, completions.get(0));
    assertArrayEquals(new long[] {2, SUCCESS, 20}, completions.get(1));
    assertArrayEquals(new long[] {3, SUCCESS, 25}, completions.get(2));
    assertEquals(24, connection.server().memory().getLongAcquire(64));
  }

  @Test
  void fullSendQueueTakesAgainAfterAPoll() throws IOException {
    QueuePair client = harness.connect("a").client();
    int posted = 0;
    int result = POSTED;
    while (posted < 100_000 && result == POSTED) {
      result = client.fetchAndAdd(client.remote(), 0, 1, posted);
      posted += result == POSTED ? 1 : 0;
    }
    assertEquals(SEND_QUEUE_FULL, result);
    List<long[]> completions = harness.completions(client, posted);
    for (int i = 0; i < posted; i++) {
      assertArrayEquals(new long[] {i, SUCCESS, i}, completions.get(i));
    }
    assertEquals(POSTED, client.fetchAndAdd(client.remote(), 0, 1, posted));
    // The refused one was not executed.
    assertEquals(posted, harness.completions(client, 1).get(0)[2]);
  }

  @Test
  void rangesAreChecked() throws IOException {
    QueuePair client = harness.connect("a").client();
    RemoteMemory remote = client.remote();
    MemoryRegion memory = client.memory();
    RemoteMemory foreign = new RemoteMemory(remote.address(), LENGTH, remote.rkey() + 1);
    Class<IllegalArgumentException> misuse = IllegalArgumentException.class;
    assertThrows(misuse, () -> client.write(-1, 64));
    assertThrows(misuse, () -> client.write(LENGTH - 32, 64));
    assertThrows(misuse, () -> client.write(64, Integer.MAX_VALUE));
    assertThrows(misuse, () -> client.read(remote, LENGTH - 8, memory, 0, 16, 0, 1));
    assertThrows(misuse, () -> client.read(remote, 0, memory, LENGTH - 8, 16, 0, 1));
    assertThrows(misuse, () -> client.read(remote, 0, memory, 64, 16, 16, 1));
    assertThrows(misuse, () -> client.read(remote, 4, memory, 64, 16, 0, 1));
    assertThrows(misuse, () -> client.compareAndSwap(remote, LENGTH, 0, 1, 1));
    assertThrows(misuse, () -> client.fetchAndAdd(remote, -8, 1, 1));
    assertThrows(misuse, () -> client.fetchAndAdd(foreign, 0, 1, 1));
    assertEquals(0, client.completions().poll((id, status, value) -> {}, 1));
  }
}

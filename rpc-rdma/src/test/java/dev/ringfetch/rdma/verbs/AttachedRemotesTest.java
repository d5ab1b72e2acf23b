package dev.ringfetch.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.RemoteMemory;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AttachedRemotesTest {
  private static final RemoteMemory SESSION = new RemoteMemory(1L << 60, 1 << 16, -5);

  private final AttachedRemotes attached = new AttachedRemotes(SESSION);

  private static RemoteMemory memory(int number) {
    return new RemoteMemory(number << 20, 4096, number + 100);
  }

  private static byte[] descriptor(int number) {
    return new RegisteredDescriptor(SESSION, number, memory(number)).encode();
  }

  private void assertRefused(byte[] descriptor, String word) {
    IOException refusal =
        assertThrows(IOException.class, () -> attached.attach(descriptor, 1 << 20));
    assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
  }

  @Test
  void whatIsAttachedMayBeRead() throws IOException {
    assertThrows(IllegalArgumentException.class, () -> attached.check(memory(0)));
    assertEquals(memory(0), attached.attach(descriptor(0), 4096));
    assertEquals(memory(2), attached.attach(descriptor(2), 4096));
    for (RemoteMemory known : new RemoteMemory[] {SESSION, memory(0), memory(2)}) {
      assertDoesNotThrow(() -> attached.check(known));
    }
    assertThrows(IllegalArgumentException.class, () -> attached.check(memory(1)));
  }

  @Test
  void descriptorIsGoodOnceAndInItsTurn() throws IOException {
    attached.attach(descriptor(1), 4096);
    assertRefused(descriptor(1), "before");
    assertRefused(descriptor(0), "before");
    attached.attach(descriptor(2), 4096);
  }

  @Test
  void memoryThatIsTooLongCanBeAskedForAgain() throws IOException {
    assertThrows(IOException.class, () -> attached.attach(descriptor(0), 4095));
    attached.attach(descriptor(0), 4096);
  }

  @Test
  void otherConnectionsAndOtherThingsAreRefused() {
    RemoteMemory other = new RemoteMemory(SESSION.address(), SESSION.length(), -6);
    assertRefused(new RegisteredDescriptor(other, 0, memory(0)).encode(), "another connection");
    for (int length : new int[] {0, -64, 63}) {
      RemoteMemory wrong = new RemoteMemory(0, length, 1);
      assertRefused(new RegisteredDescriptor(SESSION, 0, wrong).encode(), "malformed");
    }
    assertRefused(new RegisteredDescriptor(SESSION, -1, memory(0)).encode(), "malformed");
    Random random = new Random(Long.getLong("ringfetch.seed", 1));
    for (int i = 0; i < 1_000; i++) {
      byte[] damaged = descriptor(0);
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 + random.nextInt(255));
      assertRefused(damaged, "malformed");
    }
    assertRefused(new byte[0], "malformed");
  }
}

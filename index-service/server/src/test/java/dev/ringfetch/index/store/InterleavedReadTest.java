package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.ReadResult;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** Lets the owner act between the batches of one read: the cases that chance rarely brings. */
class InterleavedReadTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString OTHER = ByteString.copyFromUtf8("oth");

  private final StoreMemory memory = Memories.serving(64 << 10, 1 << 20);
  private final HashIndex index = new HashIndex(memory, 1);
  private final PartitionStore store = index.partition(0);
  private final Deque<Runnable> script = new ArrayDeque<>();
  private final HashReader reader =
      new HashReader(new ScriptedReads(memory.newReads(), script), index.location());
  private final Found found = new Found();
  private long version;

  private void put(ByteString key) {
    assertEquals(0, store.reserve(3, 8));
    store.put(key, ByteString.copyFromUtf8(String.format("%08d", ++version)), version);
  }

  /** The key is there throughout, although the block that was its own is another key's. */
  @Test
  void aBlockThatIsReusedForAnotherKey() {
    put(KEY);
    assertEquals(ReadResult.FOUND, reader.get(KEY, found));
    script.add(() -> {}); // the buckets
    script.add(
        () -> {
          put(KEY); // into the next block
          put(OTHER); // into the block that it left
        });
    assertEquals(ReadResult.FOUND, reader.get(KEY, found));
    assertEquals(2, found.version());
    assertTrue(script.isEmpty());
  }

  /** The same, and the key comes back to its block before the slot is looked at again. */
  @Test
  void aBlockThatTheKeyComesBackTo() {
    put(KEY);
    assertEquals(ReadResult.FOUND, reader.get(KEY, found));
    script.add(() -> {}); // the buckets
    script.add(
        () -> {
          put(KEY);
          put(OTHER);
        });
    script.add(
        () -> {
          assertTrue(store.delete(OTHER));
          put(KEY);
        });
    assertEquals(ReadResult.FOUND, reader.get(KEY, found));
    assertEquals(4, found.version());
    assertTrue(script.isEmpty());
  }

  /** A key that comes while the read is on its way may be absent or found. */
  @Test
  void aSplitBetweenTheBatches() {
    for (int i = 0; i < 300; i++) {
      final ByteString key = ByteString.copyFromUtf8(String.format("%03d", i));
      put(key);
      script.clear();
      script.add(() -> {}); // the buckets
      script.add(store::grow);
      assertEquals(ReadResult.FOUND, reader.get(key, found));
      script.clear();
      script.add(() -> {}); // the buckets
      script.add(store::grow);
      assertEquals(ReadResult.ABSENT, reader.get(OTHER, found));
    }
  }
}

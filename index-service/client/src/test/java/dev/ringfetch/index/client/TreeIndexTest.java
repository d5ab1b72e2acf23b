package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Ordered views on an index in a tree, which counts pages and streams. */
final class TreeIndexTest extends OrderedIndexContract {
  private final TreeIndex tree = new TreeIndex();
  private final TreeAdmin admin = new TreeAdmin();

  @Override
  TestServer start(Path directory) throws IOException {
    return TestServer.startWith(directory, tree, admin);
  }

  @Override
  boolean servesSnapshots() {
    return true;
  }

  private static void await(BooleanSupplier condition) {
    final long limitNs = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - limitNs < 0, "in time");
      Thread.onSpinWait();
    }
  }

  @Test
  void theFirstWriteCreatesTheIndexAsOrdered() {
    fill(1);
    fill(1);
    assertEquals(1, admin.creations.size());
    assertEquals(IndexKind.ORDERED, admin.creations.get(0).getKind());
  }

  @Test
  void pagesAreFetchedWhenTheyAreNeeded() {
    fill(50);
    try (ScanIterator<Long> iterator = index.keys(Range.all()).iterator()) {
      assertEquals(0, tree.pages.get());
      for (int i = 0; i < TreeIndex.PAGE; i++) {
        iterator.next();
      }
      assertEquals(1, tree.pages.get());
      iterator.next();
      assertEquals(2, tree.pages.get());
    }
  }

  @Test
  void snapshotsThatAreClosedEndAtTheServer() {
    fill(40);
    tree.holding = true;
    final ScanIterator<Long> iterator = index.keys(Range.all()).snapshot().iterator();
    iterator.next();
    assertEquals(1, tree.openStreams.get());
    iterator.close();
    await(() -> tree.openStreams.get() == 0);
    final ScanIterator<Long> other = index.keys(Range.all()).snapshot().iterator();
    other.next();
    client.close();
    await(() -> tree.openStreams.get() == 0);
    assertThrows(IllegalStateException.class, () -> other.forEachRemaining(key -> {}));
    assertFalse(other.hasNext());
  }

  @Test
  void snapshotsThatAreLeftEndWithTheirLifetime() {
    fill(40);
    tree.holding = true;
    final ScanIterator<Long> iterator =
        index.keys(Range.all()).snapshot(Duration.ofMillis(200)).iterator();
    iterator.next();
    await(() -> tree.openStreams.get() == 0);
    assertThrows(DeadlineException.class, () -> iterator.forEachRemaining(key -> {}));
    assertFalse(iterator.hasNext());
  }

  @Test
  void aConsumerThatThrowsEndsTheScan() {
    fill(40);
    for (final Scan<Long> scan :
        List.of(index.keys(Range.all()), index.keys(Range.all()).snapshot())) {
      final var future =
          index
              .async()
              .forEach(
                  scan,
                  key -> {
                    throw new ArithmeticException("of the consumer");
                  });
      final CompletionException e = assertThrows(CompletionException.class, future::join);
      assertEquals("of the consumer", e.getCause().getMessage());
    }
    await(() -> tree.openStreams.get() == 0);
  }

  @Test
  void whatCannotBeDecodedIsNamed() {
    fill(1);
    final OrderedIndex<Long, Long> wrong = client.ordered("numbers", Codec.int64(), Codec.int64());
    final IndexException e = assertThrows(IndexException.class, () -> wrong.scan().toList());
    assertTrue(e.getMessage().contains("cannot decode a value as int64"), e.getMessage());
    assertThrows(IndexException.class, () -> wrong.get(0L));
  }
}

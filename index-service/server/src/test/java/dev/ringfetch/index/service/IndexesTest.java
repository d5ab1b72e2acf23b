package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.StatusException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IndexesTest {
  private Indexes indexes;

  @BeforeEach
  void open() throws IOException {
    indexes = new Indexes(IndexMemory.ofProcess(256L << 20));
  }

  @AfterEach
  void close() {
    indexes.close();
  }

  /** The index of a name, created as an ORDERED one unless there is one. */
  private ServedIndex created(String name) throws Exception {
    return IndexRequests.create(
        indexes, name, IndexKind.INDEX_KIND_UNSPECIFIED, Durability.DURABILITY_UNSPECIFIED);
  }

  @Test
  void emptyNameIsTheDefaultIndex() throws Exception {
    assertNotNull(indexes.find(""));
    assertSame(indexes.find(""), indexes.find("default"));
    assertSame(indexes.find(""), created("default"));
    assertSame(indexes.find(""), created(""));
  }

  @Test
  void findingCreatesNothing() {
    assertNull(indexes.find("a"));
    assertNull(indexes.find("a"));
  }

  @Test
  void namesAreApart() throws Exception {
    final ServedIndex a = created("a");
    assertNotSame(a, created("b"));
    assertNotSame(a, indexes.find(""));
    assertSame(a, indexes.find("a"));
    assertSame(a, created("a"));
  }

  @Test
  void thereIsABoundThatManyThreadsKeepToo() throws Exception {
    final int threads = 4;
    final int namesOfEach = Indexes.MAX_INDEXES;
    final List<Callable<Integer>> tasks = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      final String prefix = t + "-";
      tasks.add(
          () -> {
            int created = 0;
            for (int i = 0; i < namesOfEach; i++) {
              created += isCreated(prefix + i) ? 1 : 0;
            }
            return created;
          });
    }
    final int created = Crowd.run(tasks).stream().mapToInt(Integer::intValue).sum();
    assertEquals(Indexes.MAX_INDEXES - 1, created, "all but the default one");
    assertFalse(isCreated("one more"));
    assertFalse(
        IndexRequests.isCreated(
            indexes, "default", IndexKind.HASH, Durability.DURABILITY_UNSPECIFIED),
        "what is there can still be found");
  }

  private boolean isCreated(String name) throws Exception {
    try {
      return IndexRequests.isCreated(
          indexes, name, IndexKind.HASH, Durability.DURABILITY_UNSPECIFIED);
    } catch (StatusException e) {
      assertEquals("too many indexes: limit=1024", e.getStatus().getDescription());
      return false;
    }
  }

  @Test
  void droppedIndexIsNotFoundAndANewOneIsEmpty() throws Exception {
    final ByteString key = ByteString.copyFromUtf8("key");
    final ServedIndex first = created("a");
    new BlockingIndex(first).put(key, key);
    final ServedIndex.LocalReader reader = first.reader();
    assertEquals(ReadResult.FOUND, reader.read(key));
    assertTrue(IndexRequests.drop(indexes, "a"));
    assertNull(indexes.find("a"));
    assertFalse(IndexRequests.drop(indexes, "a"));
    assertEquals(ReadResult.CLOSED, reader.read(key));

    final ServedIndex second = created("a");
    assertNotEquals(first.incarnation(), second.incarnation());
    assertNull(new BlockingIndex(second).get(key));
    assertEquals(ReadResult.CLOSED, reader.read(key), "its memory may be used again by now");
  }

  @Test
  void memoryOfDroppedIndexesIsUsedAgain() throws Exception {
    final ByteString value = ByteString.copyFrom(new byte[100_000]);
    for (int round = 0; round < 200; round++) { // twice the budget
      final BlockingIndex index = new BlockingIndex(created("a"));
      for (int i = 0; i < 25; i++) {
        index.put(ByteString.copyFromUtf8("key" + i), value);
      }
      assertTrue(IndexRequests.drop(indexes, "a"));
    }
  }

  @Test
  void memoryIsClosedWhereItCannotServe(@TempDir Path shm, @TempDir Path data) throws IOException {
    final IndexMemoryContext context =
        new IndexMemoryContext()
            .fabrics("shm")
            .shmDirectory(shm)
            .dataDirectory(data)
            .budget(IndexMemoryContext.BUDGET_MIN);
    final IndexMemory memory = IndexMemory.shared(context);
    GatePage.open(data.resolve("gate")).move(Long.MAX_VALUE >> 1);
    assertThrows(IOException.class, () -> new Indexes(memory));
    new Indexes(IndexMemory.shared(context)).close(); // owns the directory now
  }
}

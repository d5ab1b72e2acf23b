package dev.ringfetch.index.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyReader;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.ScanCursor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Lets the owner act between the batches of a read of an entry with a deadline. */
class ExpiredReadTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString NEXT = ByteString.copyFromUtf8("next");

  /** What both kinds of index have in common. */
  abstract static class OfKind {
    final StoreMemory memory = Memories.serving(64 << 10, 1 << 20);
    final Deque<Runnable> script = new ArrayDeque<>();
    final Found found = new Found();
    EntryStore store;
    Expiry expiry;
    KeyReader reader;
    long version;

    /** Batches of a read up to the block of the key, that of the block included. */
    abstract int batchesToBlock();

    abstract void open(StoreMemory in);

    /** Whether reads keep their order: posted ones do not, and are planned differently. */
    boolean ordered() {
      return true;
    }

    Reads reads() {
      return new ScriptedReads(memory.newReads(), script, ordered(), false);
    }

    @BeforeEach
    void open() {
      open(memory);
      expiry = store.expiry();
      expiry.advance(100);
      put(NEXT, 0);
      assertEquals(ReadResult.FOUND, reader.get(NEXT, found)); // what leads there is known now
    }

    void put(ByteString key, long deadline) {
      assertEquals(0, store.reserve(key.size(), 8, deadline != 0));
      final ByteString value = ByteString.copyFromUtf8(String.format("%08d", ++version));
      store.put(key, value, version, deadline);
    }

    void before(int batch, Runnable action) {
      script.clear();
      for (int i = 1; i < batch; i++) {
        script.add(() -> {});
      }
      script.add(action);
    }

    void check(ReadResult expected) {
      assertEquals(expected, reader.get(KEY, found));
      assertTrue(script.isEmpty(), "the script was not played");
      if (expected == ReadResult.FOUND) {
        assertEquals(version, found.version());
      }
    }

    @Test
    void entryEndsWithTheClock() {
      put(KEY, 110);
      check(ReadResult.FOUND);
      assertEquals(110, found.deadline());
      expiry.advance(109);
      check(ReadResult.FOUND);
      expiry.advance(110);
      check(ReadResult.ABSENT);
      put(KEY, 0);
      check(ReadResult.FOUND);
      assertEquals(0, found.deadline());
    }

    /**
     * The key is there all the time: so "absent", by a clock of after the replacement, is wrong.
     */
    @Test
    void entryThatIsReplacedBeforeTheClockComesToItsDeadline() {
      put(KEY, 110);
      before(
          batchesToBlock() + 1, // the clock's
          () -> {
            put(KEY, 0);
            expiry.advance(110);
          });
      check(ReadResult.FOUND);
    }

    @Test
    void entryThatIsReplacedByOneWithALaterDeadline() {
      put(KEY, 110);
      before(
          batchesToBlock() + 1,
          () -> {
            put(KEY, 120);
            expiry.advance(115);
          });
      check(ReadResult.FOUND);
      assertEquals(120, found.deadline());
    }

    @Test
    void entryThatEndsBetweenBlockAndClock() {
      put(KEY, 110);
      before(batchesToBlock() + 1, () -> expiry.advance(110));
      check(ReadResult.ABSENT);
    }

    /** It was absent, and the key came again later: either may be the answer, but not the old. */
    @Test
    void entryThatEndsAndIsPutAgain() {
      put(KEY, 110);
      before(
          batchesToBlock() + 1,
          () -> {
            expiry.advance(110);
            put(KEY, 0);
          });
      check(ReadResult.FOUND);
    }

    /** Those without deadlines cost no batch more. */
    @Test
    void entryWithoutADeadlineTakesNoLookAtTheClock() {
      put(KEY, 0);
      final int[] batches = {0};
      for (int i = 0; i < 10; i++) {
        script.add(() -> batches[0]++);
      }
      assertEquals(ReadResult.FOUND, reader.get(KEY, found));
      assertEquals(batchesToBlock(), batches[0]);
    }
  }

  @Nested
  class OfHashIndex extends OfKind {
    @Override
    int batchesToBlock() {
      return 2;
    }

    @Override
    void open(StoreMemory in) {
      final HashIndex index = new HashIndex(in, 1);
      store = index.partition(0);
      reader = new HashReader(reads(), index.location());
    }
  }

  @Nested
  class OfHashIndexByPostedReads extends OfHashIndex {
    @Override
    boolean ordered() {
      return false;
    }
  }

  @Nested
  class OfOrderedIndexByPostedReads extends OfOrderedIndex {
    @Override
    boolean ordered() {
      return false;
    }
  }

  @Nested
  class OfOrderedIndex extends OfKind {
    @Override
    int batchesToBlock() {
      return 3;
    }

    @Override
    void open(StoreMemory in) {
      final OrderedIndex index = new OrderedIndex(in);
      store = index.partition(0);
      reader = new OrderedReader(reads(), index.location());
    }

    private List<String> scan(EntrySink options) {
      final List<String> entries = new ArrayList<>();
      final EntrySink sink =
          new EntrySink() {
            @Override
            public boolean take(
                byte[] array, int keyOffset, int keyLength, int length, long of, long deadline) {
              entries.add(
                  new String(array, keyOffset, keyLength, UTF_8) + " " + of + " " + deadline);
              return true;
            }

            @Override
            public long clock() {
              return options.clock();
            }

            @Override
            public boolean passes() {
              return options.passes();
            }
          };
      final ScanCursor cursor = ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY);
      while (((OrderedReader) reader).scan(cursor, sink) == ReadResult.FOUND) {
        entries.add("-");
      }
      assertTrue(cursor.isDone());
      assertTrue(script.isEmpty(), "the script was not played");
      return entries;
    }

    private final EntrySink none = (array, at, length, valueLength, of, deadline) -> true;

    @Test
    void scanLeavesOutWhatHasEnded() {
      put(KEY, 110);
      assertEquals(List.of("key 2 110", "next 1 0"), scan(none));
      expiry.advance(110);
      assertEquals(List.of("next 1 0"), scan(none));
    }

    /** The key is there throughout, so it comes. */
    @Test
    void scanGivesWhatReplacedAnEntryThatWouldHaveEnded() {
      put(KEY, 110);
      before(
          batchesToBlock() + 1,
          () -> {
            put(KEY, 0);
            expiry.advance(110);
          });
      assertEquals(List.of("key 3 0", "next 1 0"), scan(none));
    }

    @Test
    void scanByAClockOfItsOwnGivesWhatHadNotEndedThen() {
      put(KEY, 110);
      expiry.advance(110);
      final EntrySink at109 =
          new EntrySink() {
            @Override
            public boolean take(
                byte[] array, int at, int length, int valueLength, long of, long deadline) {
              return true;
            }

            @Override
            public long clock() {
              return 109;
            }
          };
      assertEquals(List.of("key 2 110", "next 1 0"), scan(at109));
    }

    /** Entries that have ended do not hold a scan for long. */
    @Test
    void sinkMayEndTheScanWhereEntriesAreLeftOut() {
      put(KEY, 110);
      expiry.advance(110);
      final EntrySink impatient =
          new EntrySink() {
            @Override
            public boolean take(
                byte[] array, int at, int length, int valueLength, long of, long deadline) {
              return true;
            }

            @Override
            public boolean passes() {
              return false;
            }
          };
      assertEquals(List.of("-", "next 1 0"), scan(impatient));
    }
  }
}

package dev.ringfetch.index.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.partition.BookStore;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The ring of a partition's newest changes, and the tokens of places in it. */
final class ChangeRingTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");

  private static ChangeRing ring(RingBudget budget) {
    final ChangeRing ring = new ChangeRing(budget, () -> {});
    ring.begin(1000);
    return ring;
  }

  private static Partition partition(long last) {
    return new Partition(
        new BookStore(1L << 30),
        new ImmediateLog(last),
        64,
        failure -> {
          throw new AssertionError(failure);
        },
        Handover.never());
  }

  private static void put(Partition partition, int bytes) {
    assertEquals(
        0, partition.submit(new Write(w -> {}).put(KEY, ByteString.copyFrom(new byte[bytes]))));
  }

  @Test
  void aNewRingHasNothingBeforeItsBegin() {
    final ChangeRing ring = ring(new RingBudget(1 << 20));
    assertEquals(1000, ring.last());
    assertEquals(1000, ring.floor());
    assertEquals(ChangeRing.GONE, ring.numberAfter(999));
    assertEquals(0, ring.numberAfter(1000));
    assertTrue(ring.isEnd(0));
  }

  @Test
  void aRingGrowsAndKeepsItsShare() {
    final RingBudget budget = new RingBudget(400_000);
    final AtomicInteger alarms = new AtomicInteger();
    final ChangeRing ring = new ChangeRing(budget, alarms::incrementAndGet);
    final Partition partition = partition(0);
    put(partition, 10);
    assertEquals(0, partition.submit(OwnerTask.watch(ring, task -> {})));
    assertEquals(0, alarms.get());
    for (int i = 0; i < 1000; i++) {
      put(partition, 10);
    }
    assertEquals(1000, alarms.get());
    assertEquals(1, ring.floor());
    assertEquals(1001, ring.last());
    for (long lsn = 1; lsn <= 1001; lsn++) {
      assertEquals(lsn - 1, ring.numberAfter(lsn));
      if (lsn > 1) {
        assertEquals(lsn, ring.change(lsn - 2).version());
      }
    }
    final ChangeRing other = ring(budget); // takes half of it
    put(partition, 10);
    final long kept = ring.last() - ring.floor();
    assertTrue(kept < 1500 && kept > 1000, "kept=" + kept);
    final ChangeRing third = ring(budget);
    put(partition, 150_000);
    assertEquals(ring.floor() + 1, ring.last()); // the newest stays, however long
    assertNull(ring.change(0));
    assertEquals(ChangeRing.GONE, ring.numberAfter(ring.floor() - 1));
    assertEquals(ring.last() - 2, ring.numberAfter(ring.floor()));
    other.close();
    third.close();
    ring.close();
    assertEquals(0, budget.rings());
  }

  private static JournalRecord record(int type, long lsn) {
    final JournalRecord record = new JournalRecord();
    record
        .begin(new byte[256], 0, type, KEY, ByteString.EMPTY)
        .partition(1, 0)
        .request(0, 0)
        .place(1, lsn)
        .end();
    return record;
  }

  @Test
  void aMembersRingGoesOnWhereItLeads() {
    final AtomicInteger alarms = new AtomicInteger();
    final ChangeRing ring = ChangeRing.ofMember(new RingBudget(20_000), 5);
    ring.onRecord(record(RecordDescriptor.PUT, 6));
    ring.onRecord(record(RecordDescriptor.DELETE, 7));
    ring.onRecord(record(RecordDescriptor.OUTCOME, 8));
    ring.lead(alarms::incrementAndGet);
    final Partition partition = partition(8);
    assertEquals(0, partition.submit(OwnerTask.watch(ring, task -> {})));
    put(partition, 10);
    assertTrue(alarms.get() > 0);
    assertEquals(5, ring.floor());
    assertEquals(0, ring.numberAfter(5));
    assertEquals(2, ring.numberAfter(7));
    assertEquals(9, ring.change(2).version());
    assertEquals(ChangeRing.GONE, ring.numberAfter(4));
  }

  @Test
  void aMembersRingThatLacksRecordsHasNoneBeforeThem() {
    final ChangeRing ring = ChangeRing.ofMember(new RingBudget(20_000), 5);
    ring.onRecord(record(RecordDescriptor.PUT, 6));
    ring.lead(() -> {});
    assertEquals(0, partition(9).submit(OwnerTask.watch(ring, task -> {})));
    assertEquals(9, ring.floor());
    assertEquals(ChangeRing.GONE, ring.numberAfter(6));
    assertTrue(ring.isEnd(ring.numberAfter(9)));
  }

  @Test
  void aReaderBesideTheOwnerSeesAllOrThatItIsLate() throws Exception {
    final ChangeRing ring = new ChangeRing(new RingBudget(20_000), () -> {});
    final Partition partition = partition(0);
    assertEquals(0, partition.submit(OwnerTask.watch(ring, task -> {})));
    final AtomicBoolean done = new AtomicBoolean();
    final List<String> errors = new ArrayList<>();
    final Thread reader =
        new Thread(
            () -> {
              long lsn = 0;
              while (!done.get() && errors.isEmpty()) {
                final long number = ring.numberAfter(lsn);
                if (number == ChangeRing.GONE) {
                  lsn = ring.floor();
                } else if (!ring.isEnd(number)) {
                  final Change change = ring.change(number);
                  if (change != null && change.version() != lsn + 1) {
                    errors.add("lsn=" + lsn + " next=" + change.version());
                  }
                  lsn = change == null ? lsn : change.version();
                }
              }
            });
    reader.start();
    for (int i = 0; i < 200_000; i++) {
      put(partition, 10);
    }
    done.set(true);
    reader.join();
    assertEquals(List.of(), errors);
  }

  @Test
  void aTokenIsDecodedOrNone() {
    final long[] lsns = {0, 1, WatchToken.UNWATCHED, (1L << 48) - 1};
    final ByteString token = WatchToken.encode(0x0123_4567_89AB_CDEFL, lsns);
    assertEquals(12 + 4 * 8 + 4, token.size());
    assertEquals(1, token.byteAt(0));
    assertEquals(4, token.byteAt(3)); // partitions, as the diagram has it
    assertEquals(0x01, token.byteAt(4)); // incarnation
    assertEquals((byte) 0xEF, token.byteAt(11));
    assertEquals(1, token.byteAt(12 + 15)); // the second LSN
    final WatchToken decoded = WatchToken.decode(token);
    assertEquals(0x0123_4567_89AB_CDEFL, decoded.incarnation());
    assertEquals(4, decoded.partitions());
    for (int i = 0; i < lsns.length; i++) {
      assertEquals(lsns[i], decoded.lsn(i));
    }
    for (int bit = 0; bit < 8 * token.size(); bit++) {
      final byte[] changed = token.toByteArray();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertNull(WatchToken.decode(ByteString.copyFrom(changed)), "bit=" + bit);
    }
    for (int length = 0; length < token.size(); length++) {
      assertNull(WatchToken.decode(token.substring(0, length)), "length=" + length);
    }
    assertFalse(token.isEmpty());
  }
}

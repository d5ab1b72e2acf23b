package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Batches of puts: an outcome each, one answer for all. */
final class PutBatchTest {
  private static final ByteString VALUE = ByteString.copyFromUtf8("v");

  private final List<Throwable> errors = new ArrayList<>();
  private final LateLog firstLog = new LateLog(0, 1);
  private final LateLog secondLog = new LateLog(0, 1);
  private final BookStore firstStore = new BookStore(100);
  private final BookStore secondStore = new BookStore(4);
  private final Partition first =
      new Partition(firstStore, firstLog, 1, errors::add, Handover.never());
  private final Partition second =
      new Partition(secondStore, secondLog, 8, errors::add, Handover.never());
  private final List<PutBatch> answers = new ArrayList<>();
  private final PutBatch batch = new PutBatch(answers::add);

  @Test
  void answerComesWhenAllPutsOfAllPartitionsAreCommitted() {
    batch.add(first, key(0), VALUE);
    batch.add(second, key(1), VALUE);
    batch.add(second, key(1), VALUE);
    batch.submit();
    assertThrows(IllegalStateException.class, batch::submit);
    assertThrows(IllegalStateException.class, batch::clear);
    secondLog.commitAll();
    assertEquals(List.of(), answers);
    firstLog.commitAll();
    assertEquals(List.of(batch), answers);
    assertTrue(batch.write(1).created());
    assertFalse(batch.write(2).created());
    assertEquals(2, secondStore.read(key(1)).getVersion());
    assertEquals(3, batch.size());
    assertThrows(IndexOutOfBoundsException.class, () -> batch.write(3));
  }

  @Test
  void eachPutHasItsOwnOutcome() {
    batch.add(second, key(0), VALUE);
    batch.add(second, key(1), VALUE);
    batch.add(second, key(2), VALUE); // one too many for the memory
    batch.add(first, key(3), VALUE);
    batch.submit();
    assertEquals(List.of(), answers);
    firstLog.commitAll();
    secondLog.commitAll();
    assertEquals(List.of(batch), answers);
    assertEquals(List.of(Write.DONE, Write.DONE, Write.MEMORY_FULL, Write.DONE), outcomes());
  }

  @Test
  void putsOfFullQueueAreRefusedAlone() {
    for (int i = 0; i < 3; i++) { // one waits for its commit, one is taken, one is queued
      first.submit(new Write(write -> {}).put(key(i), VALUE));
    }
    batch.add(first, key(3), VALUE);
    batch.add(second, key(4), VALUE);
    batch.add(first, key(5), VALUE);
    batch.submit();
    secondLog.commitAll();
    assertEquals(List.of(Write.QUEUE_FULL, Write.DONE, Write.QUEUE_FULL), outcomes());
    assertEquals(List.of(batch), answers);
    batch.clear();
    for (int i = 0; i < 3; i++) {
      firstLog.commitAll();
    }
    batch.add(first, key(3), VALUE);
    batch.submit();
    firstLog.commitAll();
    assertEquals(List.of(Write.DONE), outcomes());
    assertEquals(List.of(batch, batch), answers);
    assertEquals(List.of(), errors);
  }

  @Test
  void emptyBatchIsAnswered() {
    batch.submit();
    assertEquals(List.of(batch), answers);
  }

  private List<Integer> outcomes() {
    final List<Integer> outcomes = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      outcomes.add(batch.write(i).outcome());
    }
    return outcomes;
  }

  /** Of one byte. */
  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(Integer.toString(number));
  }
}

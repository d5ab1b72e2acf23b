package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A thread that appends numbered records to a partition, batch after batch, and keeps the offsets
 * that were acknowledged.
 */
final class TopicAppender implements AutoCloseable {
  private static final int BATCH = 20;

  private final TopicLog log;
  private final List<Long> offsets = Collections.synchronizedList(new ArrayList<>());
  private final Thread thread = new Thread(this::run, "appender");
  private volatile boolean ending;
  private volatile RuntimeException failure; // null: none

  TopicAppender(TopicLog log) {
    this.log = log;
    thread.start();
  }

  private void run() {
    try {
      while (!ending) {
        final int first = offsets.size();
        final List<ByteString> records =
            IntStream.range(first, first + BATCH).mapToObj(TopicAppender::record).toList();
        offsets.addAll(log.append(records).join().offsets());
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  private static ByteString record(int number) {
    return ByteString.copyFromUtf8("record " + number);
  }

  /** Waits for that many more records. */
  void await(int more) throws InterruptedException {
    final int wanted = offsets.size() + more;
    while (offsets.size() < wanted && failure == null) {
      Thread.sleep(1);
    }
  }

  /**
   * Checks that the records are those that were acknowledged, each once and in order.
   *
   * @param kept whether the partition has all of them, else the newest ones
   */
  void check(List<TopicRecord> records, boolean kept) {
    if (failure != null) {
      throw new AssertionError(failure);
    }
    final int first = kept ? 0 : offsets.size() - records.size();
    assertTrue(first >= 0 && !records.isEmpty(), () -> "records=" + records.size());
    assertEquals(
        offsets.subList(first, offsets.size()), records.stream().map(TopicRecord::offset).toList());
    long lastMs = 0;
    for (int i = 0; i < records.size(); i++) {
      assertEquals(record(first + i), records.get(i).value());
      assertTrue(records.get(i).timeMs() >= lastMs);
      lastMs = records.get(i).timeMs();
    }
  }

  /** Reads all records. */
  static List<TopicRecord> readAll(TopicLog log) {
    final List<TopicRecord> all = new ArrayList<>();
    List<TopicRecord> some;
    do {
      some = log.read(all.isEmpty() ? 0 : all.get(all.size() - 1).offset() + 1, 500, 1 << 20);
      all.addAll(some);
    } while (!some.isEmpty());
    return all;
  }

  @Override
  public void close() {
    ending = true;
    try {
      thread.join(TimeUnit.SECONDS.toMillis(90));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    assertTrue(!thread.isAlive(), "it still waits");
  }
}

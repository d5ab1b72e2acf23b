package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A part of a {@link KillRun} in which all clients meet on a few keys: so the history of a key
 * stays short, over some lives of the server. Safe for use by many threads.
 */
final class KillEpoch {
  static final int KEYS = 8;

  /**
   * An operation as a client saw it.
   *
   * @param began the life of its first attempt
   * @param answered the life of its answer
   * @param base whether it is the read between a start and the first operation of a life
   */
  record Seen(Operation operation, int began, int answered, boolean base) {}

  private final int number;
  private final int firstLife;
  private final Map<KilledIndex, List<Seen>> histories = new HashMap<>(); // guarded by this
  private int inside; // guarded by this
  private long lastDeadlineNs = System.nanoTime(); // guarded by this

  KillEpoch(int number, int firstLife) {
    this.number = number;
    this.firstLife = firstLife;
  }

  int firstLife() {
    return firstLife;
  }

  ByteString key(int key) {
    return ByteString.copyFromUtf8("epoch " + number + " key " + key);
  }

  /** Notes that a client begins an operation. */
  synchronized void enter() {
    inside++;
  }

  /** Notes that it has added what it saw. */
  synchronized void exit() {
    inside--;
    notifyAll();
  }

  /** Waits until all operations have ended. */
  synchronized void awaitEnd() throws InterruptedException {
    while (inside > 0) {
      wait();
    }
  }

  synchronized void add(KilledIndex index, Seen seen) {
    histories.computeIfAbsent(index, unused -> new ArrayList<>()).add(seen);
  }

  /** Adds the end of an entry, at some moment after it, which never has to be seen. */
  synchronized void addEnd(KilledIndex index, Seen write, long earliestNs) {
    lastDeadlineNs = Math.max(lastDeadlineNs, earliestNs);
    final Operation put = write.operation;
    final Operation end =
        new Operation(
            put.key(),
            Call.removal(put.call().value()),
            Answer.OPEN,
            put.ring(),
            earliestNs,
            earliestNs);
    add(index, new Seen(end, write.began, Integer.MAX_VALUE, false));
  }

  /** When the last entry has ended. */
  synchronized long lastDeadlineNs() {
    return lastDeadlineNs;
  }

  synchronized List<Seen> history(KilledIndex index) {
    return List.copyOf(histories.getOrDefault(index, List.of()));
  }
}

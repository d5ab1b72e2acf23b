package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.QueuePair;

/**
 * The completions that the users of a send queue have asked for, in the order of their requests:
 * added at the tail, completed up to the middle, handed out at the head. The queue's guard guards
 * all but {@link #handOut}, which one thread at a time calls.
 */
final class AskedCompletions {
  /** In place of a completion's value: the word that an atomic brings. */
  static final long FORMER = -1;

  /** Completions asked for and not handed out yet; a power of two. */
  private static final int CAPACITY = 256;

  private final VerbsMemory words;
  private final int depth;
  private final long[] numbers = new long[CAPACITY];
  private final long[] ids = new long[CAPACITY];
  private final long[] values = new long[CAPACITY]; // or FORMER until completed
  private final int[] statuses = new int[CAPACITY];
  private long asked;
  private long completed;
  private volatile long handed; // written by the thread that hands out

  /**
   * Creates an empty ring.
   *
   * @param words where devices store the former words of atomics, see {@link #formerOffset}.
   * @param depth requests that the queue has room for; a power of two.
   */
  AskedCompletions(VerbsMemory words, int depth) {
    this.words = words;
    this.depth = depth;
  }

  /** Where the former word of the atomic with this number goes, in bytes. */
  int formerOffset(long number) {
    return (int) (number & (depth - 1)) * Long.BYTES;
  }

  boolean isFull() {
    return asked - handed == CAPACITY;
  }

  /** Notes what the next completion will be; {@link #add} adds it once its request is posted. */
  void prepare(long number, long workRequestId, long value) {
    final int index = index(asked);
    numbers[index] = number;
    ids[index] = workRequestId;
    values[index] = value;
  }

  void add() {
    asked++;
  }

  /** Records that the request with this number has completed; all before it have succeeded. */
  void completeThrough(long number, boolean succeeded) {
    while (completed < asked && numbers[index(completed)] <= number) {
      complete(numbers[index(completed)] < number || succeeded);
    }
  }

  /** Completes all that are left as flushed. */
  void flush() {
    while (completed < asked) {
      complete(false);
    }
  }

  private void complete(boolean succeeded) {
    final int index = index(completed);
    statuses[index] = succeeded ? QueuePair.SUCCESS : QueuePair.FLUSHED;
    if (!succeeded) {
      values[index] = 0;
    } else if (values[index] == FORMER) {
      values[index] = words.getLongAcquire(formerOffset(numbers[index]));
    }
    completed++;
  }

  /** How many have completed so far, handed out or not. */
  long completed() {
    return completed;
  }

  /**
   * Hands completions out.
   *
   * @param end the {@link #completed} of a moment with the guard.
   */
  int handOut(CompletionQueue.Handler handler, int limit, long end) {
    int count = 0;
    // Taken off before the handler runs, which may post, poll or throw.
    for (long at = handed; at < end && count < limit; at = handed) {
      final int index = index(at);
      final long id = ids[index];
      final int status = statuses[index];
      final long value = values[index];
      handed = at + 1;
      count++;
      handler.onCompletion(id, status, value);
    }
    return count;
  }

  private static int index(long at) {
    return (int) at & (CAPACITY - 1);
  }
}

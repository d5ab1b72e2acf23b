package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A batch of puts or of appends to one or several partitions that are submitted together. Each is a
 * write of its own with its own outcome; the batch is not atomic. The puts of one partition enter
 * its queue together or not at all, and are carried out in the order of their addition.
 *
 * <p>One thread adds and submits. From the answer on the batch belongs to the listener, which may
 * clear and fill it again. A reused batch allocates nothing until it exceeds its former number of
 * puts.
 */
public final class PutBatch {
  /** A receiver of the answer of a batch. */
  @FunctionalInterface
  public interface Listener {
    /** Called once when all puts have their outcomes, as {@link Write.Listener#onAnswer} is. */
    void onAnswer(PutBatch batch);
  }

  private final Listener listener;
  private final List<Write> writes = new ArrayList<>();
  private final List<Chain> chains = new ArrayList<>();
  private final AtomicInteger open = new AtomicInteger();
  private int size;
  private int partitions;

  /** Creates an empty batch, whose answer goes to this listener. */
  public PutBatch(Listener listener) {
    this.listener = listener;
  }

  /** Number of puts. */
  public int size() {
    return size;
  }

  /** The put of this number, counted from 0 in the order of addition. */
  public Write write(int number) {
    if (number < 0 || number >= size) {
      throw new IndexOutOfBoundsException("number=" + number + " size=" + size);
    }
    return writes.get(number);
  }

  /**
   * Adds a put.
   *
   * @throws IllegalStateException if the batch is submitted and not answered.
   */
  public void add(Partition partition, ByteString key, ByteString value) {
    add(partition, key, value, 0);
  }

  /**
   * Adds a put.
   *
   * @param ttlMs time to live in milliseconds; 0 for none.
   * @throws IllegalStateException if the batch is submitted and not answered.
   */
  public void add(Partition partition, ByteString key, ByteString value, long ttlMs) {
    checkAnswered();
    if (size == writes.size()) {
      writes.add(new Write(write -> answered()));
    }
    final Write write = writes.get(size).put(key, value).ttl(ttlMs);
    size++;
    chainOf(partition).add(write);
  }

  /**
   * Adds an append, which is refused if the write before it in this batch is.
   *
   * @throws IllegalStateException if the batch is submitted and not answered.
   */
  public Write append(Partition partition, ByteString record) {
    checkAnswered();
    final AppendWrite write =
        new AppendWrite(appended -> answered(), record, size == 0 ? null : writes.get(size - 1));
    writes.add(size++, write);
    chainOf(partition).add(write);
    return write;
  }

  /**
   * Removes all puts.
   *
   * @throws IllegalStateException if the batch is submitted and not answered.
   */
  public void clear() {
    checkAnswered();
    size = 0;
    partitions = 0;
  }

  /**
   * Submits all puts. Those of a partition whose queue is full get the outcome {@link
   * Write#QUEUE_FULL}. The listener is called once, possibly before this returns.
   *
   * @throws IllegalStateException if the batch is submitted and not answered, or was not cleared.
   */
  public void submit() {
    checkAnswered();
    for (int i = 0; i < size; i++) {
      writes.get(i).submitted();
    }
    open.set(size + 1); // one for this method, which uses the batch until it returns
    for (int i = 0; i < partitions; i++) {
      final Chain chain = chains.get(i);
      if (!chain.partition.submitChain(chain.first)) {
        refuse(chain.first);
      }
    }
    answered();
  }

  private Chain chainOf(Partition partition) {
    for (int i = 0; i < partitions; i++) {
      if (chains.get(i).partition == partition) {
        return chains.get(i);
      }
    }
    if (partitions == chains.size()) {
      chains.add(new Chain());
    }
    final Chain chain = chains.get(partitions++);
    chain.begin(partition);
    return chain;
  }

  private static void refuse(Submission first) {
    Submission write = first;
    while (write != null) {
      final Submission next = write.next;
      write.next = null;
      write.answered(Write.QUEUE_FULL);
      write.tell();
      write = next;
    }
  }

  private void answered() {
    if (open.decrementAndGet() == 0) {
      listener.onAnswer(this);
    }
  }

  private void checkAnswered() {
    if (open.get() != 0) {
      throw new IllegalStateException("open=" + open.get());
    }
  }

  /** The puts of one partition. */
  private static final class Chain {
    private Partition partition;
    private Write first;
    private Write last;

    void begin(Partition partition) {
      this.partition = partition;
      first = null;
    }

    void add(Write write) {
      write.next = null;
      if (first == null) {
        first = write;
      } else {
        last.next = write;
      }
      last = write;
    }
  }
}

package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.layout.Reads;
import java.io.IOException;
import java.util.Arrays;

/**
 * Reads of index memory that cannot be mapped: each batch is posted as READs under one doorbell,
 * and takes one round trip. Only the last READ of a batch has a completion, which stands for all of
 * them.
 *
 * <p>Loads are not {@link #ordered()}: a device may load the words of a READ, and the READs of a
 * batch, in any order. So they cannot prove that a key is absent.
 *
 * <p>When the connection ends, its READs complete as failed, and memory is {@link #LOST}.
 */
final class PostedReads implements Reads {
  /** The most bytes of one batch; memory for results grows up to it. */
  private static final int MAX_LENGTH = 8 << 20;

  private static final int FIRST_LENGTH = 16 << 10;
  private static final int LINE = 64;
  private static final int SPINS = 1000;
  private static final long WORK_REQUEST_ID = 1;

  /** The attached segments of the domain. */
  interface Segments {
    /** The domain's number of a segment, for any argument; -1 if it is not attached. */
    int attached(long number);
  }

  private final RemoteDomain domain;
  private final Segments segments;
  private final int shift;
  private final long limitNs;
  private final CompletionQueue.Handler handler = this::onCompletion;
  private MemoryRegion results;

  private int[] from = new int[64]; // segments, or GATE
  private int[] remoteOffsets = new int[64];
  private int[] offsets = new int[64];
  private int[] lengths = new int[64];
  private int count;
  private int used;
  private boolean unknown;
  private boolean pending;
  private int status;
  private long endNs; // deadline of the present read

  /**
   * Creates reads.
   *
   * @param domain whose requests and completions belong to these reads.
   * @param shift binary logarithm of the length of every attached segment.
   * @param limitNs how long a batch may take, in nanoseconds; a batch that takes longer ends the
   *     connection.
   */
  PostedReads(RemoteDomain domain, Segments segments, int shift, long limitNs) throws IOException {
    this.domain = domain;
    this.segments = segments;
    this.shift = shift;
    this.limitNs = limitNs;
    this.endNs = System.nanoTime() + Long.MAX_VALUE / 2;
    this.results = domain.scratch(FIRST_LENGTH);
  }

  /**
   * Limits all batches of the next read to half of the time until its deadline: the other half is
   * for a call. A batch beyond the limit ends the connection.
   */
  void until(long deadlineNs) {
    final long nowNs = System.nanoTime();
    endNs = nowNs + Math.max(0, deadlineNs - nowNs) / 2;
  }

  @Override
  public void begin() {
    count = 0;
    used = 0;
    unknown = false;
  }

  @Override
  public int add(long address, int length) {
    if (count == offsets.length) {
      from = Arrays.copyOf(from, 2 * count);
      remoteOffsets = Arrays.copyOf(remoteOffsets, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
    }
    if (address == GATE) {
      from[count] = RemoteDomain.GATE;
      remoteOffsets[count] = GateDescriptor.WORD_OFFSET;
    } else {
      from[count] = segments.attached(address >>> shift);
      remoteOffsets[count] = (int) address & ((1 << shift) - 1);
      unknown |= from[count] < 0 || length > (1 << shift) - remoteOffsets[count];
    }
    final int at = used + (remoteOffsets[count] & (Long.BYTES - 1)); // aligned as its source
    if (unknown || length > MAX_LENGTH - at) {
      unknown = true; // the caller makes a call for a single key, or reads several one by one
      return count++;
    }
    offsets[count] = at;
    lengths[count] = length;
    used = (at + length + Long.BYTES - 1) & -Long.BYTES;
    return count++;
  }

  @Override
  public int execute() {
    if (unknown) {
      return UNKNOWN_ADDRESS;
    }
    if (count == 0) {
      return DONE;
    }
    if (!ensure(used) || !post() || !await()) {
      return LOST;
    }
    return DONE;
  }

  private boolean ensure(int length) {
    if (length > results.length()) {
      try {
        results = domain.scratch((Math.max(length, 2 * results.length()) + LINE - 1) & -LINE);
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }

  private boolean post() {
    status = QueuePair.SUCCESS;
    boolean posted = true;
    domain.cork();
    for (int i = 0; posted && i < count; i++) {
      posted = post(i, i == count - 1 ? WORK_REQUEST_ID : QueuePair.UNSIGNALED);
    }
    domain.uncork();
    pending = posted;
    return posted;
  }

  private boolean post(int read, long workRequestId) {
    final long startNs = System.nanoTime();
    int result;
    do {
      result =
          domain.read(
              from[read],
              remoteOffsets[read],
              results,
              offsets[read],
              lengths[read],
              workRequestId);
      // Polling completions empties a full queue.
    } while (result == QueuePair.SEND_QUEUE_FULL
        && domain.completions().poll(handler, 1) == 0
        && isInTime(startNs));
    return result == QueuePair.POSTED;
  }

  @SuppressWarnings("ThreadPriorityCheck") // a long round trip yields the processor
  private boolean await() {
    final long startNs = System.nanoTime();
    for (int spins = 0; pending; spins++) {
      if (domain.completions().poll(handler, 1) > 0) {
        continue;
      }
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else if (isInTime(startNs)) {
        Thread.yield();
      } else {
        return false;
      }
    }
    return status == QueuePair.SUCCESS;
  }

  private boolean isInTime(long startNs) {
    final long nowNs = System.nanoTime();
    final boolean isInTime = nowNs - startNs < limitNs && nowNs - endNs < 0;
    if (!isInTime) {
      domain.close(); // before the device stores results of this batch among those of another
    }
    return isInTime;
  }

  private void onCompletion(long workRequestId, int completed, long value) {
    pending = false;
    status = completed;
  }

  @Override
  public MemoryRegion region(int number) {
    return results;
  }

  @Override
  public int offset(int number) {
    return offsets[number];
  }

  @Override
  public int segmentShift() {
    return shift;
  }

  @Override
  public boolean ordered() {
    return false;
  }

  @Override
  public void verify() {} // results are this side's own memory
}

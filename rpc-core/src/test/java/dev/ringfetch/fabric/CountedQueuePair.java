package dev.ringfetch.fabric;

import java.io.IOException;

/** A queue pair whose work requests are counted, by what they reach; and that can be full. */
public final class CountedQueuePair extends ForwardingQueuePair {
  private final int ringsOffset;
  private long lineWrites;
  private long ringWrites;
  private long lineReads;
  private long ringReads;
  private long longReads;
  private long datagrams;
  private long doorbells;
  private long completed;
  private boolean poor;
  private boolean corked;
  private boolean waiting;
  private int refusals;
  private int untilFull = Integer.MAX_VALUE; // work requests, then the queue is polled
  private int losses;
  private boolean held;
  private boolean broken;

  /**
   * Counts from now on.
   *
   * @param ringsOffset of the rings in the memory; what is before are control lines.
   */
  public CountedQueuePair(QueuePair counted, int ringsOffset) {
    super(counted);
    this.ringsOffset = ringsOffset;
  }

  /** Writes of a control line that were posted. */
  public long lineWrites() {
    return lineWrites;
  }

  /** Writes of a part of a ring that were posted. */
  public long ringWrites() {
    return ringWrites;
  }

  /** Reads of a control line that were posted. */
  public long lineReads() {
    return lineReads;
  }

  /** Reads of a part of a ring that were posted. */
  public long ringReads() {
    return ringReads;
  }

  /** Reads of memory beside the session's that were posted. */
  public long longReads() {
    return longReads;
  }

  /** No further memory is to be had while this is so. */
  public void refuseMemory(boolean refuse) {
    poor = refuse;
  }

  private void checkMemory() throws IOException {
    if (poor) {
      throw new IOException("refused by a test");
    }
  }

  @Override
  public RegisteredMemory register(int length) throws IOException {
    checkMemory();
    return super.register(length);
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    checkMemory();
    return super.scratch(length);
  }

  /** Completions that were handed out. */
  public long completed() {
    return completed;
  }

  /** Datagrams that were posted. */
  public long datagrams() {
    return datagrams;
  }

  /** Times that the device was told of work requests. */
  public long doorbells() {
    return doorbells;
  }

  private void tell() {
    if (corked) {
      waiting = true;
    } else {
      doorbells++;
    }
  }

  /** The next work requests find the send queue full. */
  public void refuse(int workRequests) {
    refusals = workRequests;
  }

  /** So many work requests find room, then none before the completions are polled. */
  public void refuseUnlessPolledAfter(int workRequests) {
    untilFull = workRequests;
  }

  /** The next datagrams that are sent are lost. */
  public void lose(int count) {
    losses = count;
  }

  /** Datagrams that come are not seen while this is so. */
  public void holdDatagrams(boolean hold) {
    held = hold;
  }

  /** No datagram comes any more. */
  public void breakDatagrams() {
    broken = true;
  }

  private boolean refuses() {
    if (refusals > 0) {
      refusals--;
      return true;
    }
    return untilFull != Integer.MAX_VALUE && untilFull-- <= 0;
  }

  @Override
  public int write(int offset, int length) {
    if (refuses()) {
      return SEND_QUEUE_FULL;
    }
    if (offset < ringsOffset) {
      lineWrites++;
    } else {
      ringWrites++;
    }
    tell();
    return super.write(offset, length);
  }

  @Override
  public int read(
      RemoteMemory remote,
      int remoteOffset,
      MemoryRegion local,
      int localOffset,
      int length,
      int firstOffset,
      long workRequestId) {
    if (refuses()) {
      return SEND_QUEUE_FULL;
    }
    if (!remote.equals(remote())) {
      longReads++;
    } else if (remoteOffset < ringsOffset) {
      lineReads++;
    } else {
      ringReads++;
    }
    tell();
    return super.read(remote, remoteOffset, local, localOffset, length, firstOffset, workRequestId);
  }

  @Override
  public int sendDatagram(int offset, int length) {
    if (refuses()) {
      return SEND_QUEUE_FULL;
    }
    datagrams++;
    return losses > 0 && losses-- > 0 ? POSTED : super.sendDatagram(offset, length);
  }

  @Override
  public int pollDatagrams(DatagramHandler handler, int limit) {
    if (broken) {
      return CLOSED;
    }
    return held ? 0 : super.pollDatagrams(handler, limit);
  }

  @Override
  public void cork() {
    corked = true;
    super.cork();
  }

  @Override
  public void uncork() {
    corked = false;
    if (waiting) {
      waiting = false;
      doorbells++;
    }
    super.uncork();
  }

  @Override
  public CompletionQueue completions() {
    final CompletionQueue completions = super.completions();
    return (handler, limit) -> {
      untilFull = Integer.MAX_VALUE;
      final int count = completions.poll(handler, limit);
      completed += count;
      return count;
    };
  }
}

package dev.ringfetch.index.peers;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * The log memory of a member that is not mapped. Records are WRITEs, and a look is one or two READs
 * after them; all go to the device with the look, under one doorbell. Only the last READ has a
 * completion, which stands for all requests before it.
 *
 * <p>Records stay in memory of this side until their requests are done: in a copy of the ring,
 * where a record's place is reused only after a later look has found that the member has taken the
 * record. Each word has a place of its own, as many as requests may be under way.
 */
final class PostedRemoteLog extends FabricRemoteLog {
  /**
   * Limit of the requests before a look has ended. A device has room for more: for records and
   * words after the last check, and a look.
   */
  private static final int REQUEST_LIMIT = 32;

  /** Number of places for words, two per request. */
  private static final int WORDS = 2 * REQUEST_LIMIT;

  private static final int WORDS_LENGTH = 2 * Long.BYTES;
  private static final long LOOK_ID = 1;

  /** Limit of the time of the first look, which checks that the memory is a log. */
  private static final long FIRST_LOOK_NS = TimeUnit.SECONDS.toNanos(2);

  private static final int SPINS = 1000;

  private final MemoryRegion copy; // of the ring
  private final MemoryRegion words;
  private final CompletionQueue.Handler handler = this::onCompletion;
  private int requests; // since the begin of the last completed look
  private int requestsBefore; // included requests of that look
  private int nextWords;
  private boolean looking;

  private PostedRemoteLog(String fabric, RemoteDomain domain, byte[] descriptor)
      throws IOException {
    super(fabric, domain, descriptor);
    copy = domain.scratch(length());
    words = domain.scratch(WORDS * WORDS_LENGTH);
  }

  /**
   * Connects to the memory, which takes some round trips.
   *
   * @throws IOException if it is not log memory, or not reachable
   */
  static PostedRemoteLog attach(String fabric, RemoteDomain domain, byte[] descriptor)
      throws IOException {
    final PostedRemoteLog log = new PostedRemoteLog(fabric, domain, descriptor);
    log.read(log.segment, LogMemoryDescriptor.MAGIC_OFFSET, 0, LOOK_ID);
    log.begun();
    log.awaitLook();
    log.checkMagic(log.results.getLongAcquire(0));
    domain.cork();
    return log;
  }

  @SuppressWarnings("ThreadPriorityCheck") // a long round trip yields the processor
  private void awaitLook() {
    final long beginNs = System.nanoTime();
    for (int spins = 0; isLooking() && !hasEnded(); spins++) {
      if (System.nanoTime() - beginNs > FIRST_LOOK_NS) {
        ended = true;
      } else if (spins > SPINS) {
        Thread.yield();
      }
    }
    ended |= looking;
  }

  @Override
  public void begin(long position) {
    writeWords(LogMemoryDescriptor.BEGIN_OFFSET, position, 0, Long.BYTES);
  }

  @Override
  public boolean mayWrite() {
    return requests < REQUEST_LIMIT;
  }

  @Override
  public void write(int offset, byte[] bytes, int start, int count) {
    copy.putBytes(offset, bytes, start, count);
    write(LogMemoryDescriptor.RING_OFFSET + offset, copy, offset, count);
  }

  @Override
  public void publish(long end, long commit) {
    writeWords(LogMemoryDescriptor.COMMIT_OFFSET, commit, end, 2 * Long.BYTES);
  }

  private void writeWords(int offset, long first, long second, int count) {
    final int at = nextWords * WORDS_LENGTH;
    nextWords = (nextWords + 1) % WORDS;
    words.putLong(at, first);
    words.putLong(at + Long.BYTES, second);
    write(offset, words, at, count);
  }

  private void write(int offset, MemoryRegion from, int at, int count) {
    requests++;
    ended |=
        domain.write(segment, offset, from, at, count, QueuePair.UNSIGNALED) != QueuePair.POSTED;
  }

  @Override
  public void look(boolean room) {
    if (room) {
      read(segment, LogMemoryDescriptor.CONSUMED_OFFSET, Long.BYTES, QueuePair.UNSIGNALED);
    }
    read(RemoteDomain.GATE, GateDescriptor.WORD_OFFSET, 0, LOOK_ID);
    domain.uncork();
    domain.cork();
    begun();
  }

  /** Notes that a look was begun after all requests so far. */
  private void begun() {
    requestsBefore = requests;
    looking = true;
  }

  private void read(int from, int offset, int to, long workRequestId) {
    requests++;
    ended |= domain.read(from, offset, results, to, Long.BYTES, workRequestId) != QueuePair.POSTED;
  }

  @Override
  public boolean isLooking() {
    if (looking) {
      domain.completions().poll(handler, 1);
    }
    return looking;
  }

  private void onCompletion(long workRequestId, int status, long value) {
    looking = false;
    ended |= status != QueuePair.SUCCESS;
    requests -= requestsBefore;
  }

  @Override
  public long gate() {
    return results.getLongAcquire(0);
  }

  @Override
  public long consumed() {
    return results.getLongAcquire(Long.BYTES);
  }

  @Override
  public boolean hasEnded() {
    return ended || domain.isRevoked();
  }
}

package dev.ringfetch.ring;

import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.RingPoller.PROTOCOL_VIOLATION;

import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;

/**
 * The fetcher of frames from a ring in the peer's memory: one read at a time, of a window that
 * begins at the head. One owner at a time, together with the poller that takes the frames, and with
 * the queue pair's completions, which a router passes on.
 *
 * <p>The window is {@link #MIN_WINDOW} bytes, which is a small answer or several. It doubles when
 * it comes back full, up to {@link #MAX_WINDOW}; when one is not full, the next is as long as what
 * it brought together with the full ones just before it, as a power of two: answers of one length,
 * or so many at once, take one read the next time. A read is as long as the frame at the head where
 * that is longer. More than {@link #MAX_MISSES} in a row reset the window: during a long wait,
 * reads are short. It ends with the ring.
 */
public final class RingFetcher {
  /** Shortest window in bytes, but for the end of the ring. */
  public static final int MIN_WINDOW = 256;

  /** Longest window in bytes, but for a longer frame. */
  public static final int MAX_WINDOW = 4096;

  /** Misses in a row that leave the window as it is. */
  public static final int MAX_MISSES = 4;

  private static final int LINE = 0; // in the scratch
  private static final int IMAGE = ControlDescriptor.CONTROL_LENGTH;
  private static final int COMPLETIONS = 8; // a poll

  private final QueuePair queuePair;
  private final RingPoller head;
  private final MemoryRegion scratch;
  private final CompletionRouter completions;
  private final long workRequestId;
  private final int ringOffset;
  private final int ringLength;
  private final int peerControlOffset;
  private final int maxLength;

  private int window = MIN_WINDOW;
  private int needed; // by the frame at the head
  private boolean pending;
  private boolean pendingLine;
  private boolean arrived;

  private long imagePosition;
  private int imageLength; // 0: there is none
  private boolean sized; // the window, by this image
  private int batch; // bytes that full windows have brought, one upon the other
  private int misses; // in a row

  private boolean line;
  private long lineConsumed;
  private long lineReleased;
  private boolean lineSleeping;
  private boolean lineBlocked;

  /**
   * Creates the fetcher of a ring; allocates its scratch.
   *
   * @param head that takes the frames, and may take others out of {@link QueuePair#memory}.
   * @param ringOffset of the ring in the peer's memory.
   * @param ringLength in bytes, a power of two.
   * @param peerControlOffset of the peer's control line in its memory.
   * @param maxFrameLength of the longest frame that the peer may write, in bytes.
   * @throws IOException when there is no memory to read into.
   */
  public RingFetcher(
      QueuePair queuePair,
      RingPoller head,
      int ringOffset,
      int ringLength,
      int peerControlOffset,
      int maxFrameLength)
      throws IOException {
    ArenaDescriptor.checkRingLength("ringLength", ringLength);
    this.queuePair = queuePair;
    this.head = head;
    this.ringOffset = ringOffset;
    this.ringLength = ringLength;
    this.peerControlOffset = peerControlOffset;
    final int longest = maxFrameLength / SLOT_LENGTH * SLOT_LENGTH;
    this.imagePosition = head.position();
    this.maxLength = Math.min(ringLength, Math.max(MAX_WINDOW, longest));
    this.scratch = queuePair.scratch(IMAGE + maxLength);
    this.completions = new CompletionRouter(queuePair);
    this.workRequestId = completions.add(this::onCompletion);
  }

  /** The queue pair's completions, of which the fetcher takes those of its reads. */
  public CompletionRouter completions() {
    return completions;
  }

  /**
   * Reads the window at the head; what was fetched before is gone, taken or not. Nothing may be
   * under way.
   *
   * @param withLine true to read the peer's control line as well.
   * @return {@link QueuePair#POSTED}, or {@link QueuePair#SEND_QUEUE_FULL} or {@link
   *     QueuePair#CLOSED} with nothing under way.
   */
  public int post(boolean withLine) {
    if (isPending()) {
      throw new IllegalStateException("a read is under way");
    }
    if (withLine) { // first: the completion of the window is that of both
      final int posted =
          queuePair.read(
              queuePair.remote(),
              peerControlOffset,
              scratch,
              LINE,
              ControlDescriptor.CONTROL_LENGTH,
              0,
              QueuePair.UNSIGNALED);
      if (posted != QueuePair.POSTED) {
        return posted;
      }
    }
    final int start = (int) (head.position() & (head.slots() - 1)) * SLOT_LENGTH;
    final int length = Math.min(Math.max(window, needed), ringLength - start);
    final int posted =
        queuePair.read(
            queuePair.remote(), ringOffset + start, scratch, IMAGE, length, 0, workRequestId);
    if (posted == QueuePair.POSTED) {
      pending = true;
      pendingLine = withLine;
      line = false;
      imagePosition = head.position();
      imageLength = length;
      sized = false;
      needed = 0;
    }
    return posted;
  }

  /**
   * The frame at the head is so long, in bytes, as far as is known: the next window takes it in.
   * Without effect where none may be so long.
   */
  public void need(int length) {
    if (length <= maxLength) {
      needed = Math.max(needed, length);
    }
  }

  /** True while a read is under way, or has come back unseen. */
  public boolean isPending() {
    return pending || arrived;
  }

  /**
   * Polls the queue pair's completions.
   *
   * @return true when a read has come back since the last call.
   */
  public boolean poll() {
    completions.poll(COMPLETIONS);
    final boolean seen = arrived;
    arrived = false;
    return seen;
  }

  private void onCompletion(long id, int status, long value) {
    pending = false;
    if (status != QueuePair.SUCCESS) {
      imageLength = 0;
      return; // the connection has ended, of which the listener is told
    }
    arrived = true;
    line = pendingLine;
    lineConsumed = scratch.getLong(LINE + ControlDescriptor.CONSUMED_OFFSET);
    lineReleased = scratch.getLong(LINE + ControlDescriptor.RELEASED_OFFSET);
    lineSleeping = scratch.getInt(LINE + ControlDescriptor.SLEEP_OFFSET) != 0;
    lineBlocked = scratch.getInt(LINE + ControlDescriptor.BLOCKED_OFFSET) != 0;
  }

  /**
   * Hands out frames that were fetched, as {@link RingPoller#poll} does; those beyond the limit
   * stay for the next call. Nothing while a read is under way.
   *
   * @param limit in slots.
   * @return how many frames were consumed, or {@link RingPoller#PROTOCOL_VIOLATION}; 0 is a miss,
   *     unless {@link #hasFrame}.
   */
  public int take(RingPoller.FrameHandler handler, int limit) {
    final int left = left();
    if (left == 0) {
      return 0;
    }
    final int frames = head.pollFetched(scratch, IMAGE + imageLength - left, left, handler, limit);
    return size() ? frames : PROTOCOL_VIOLATION;
  }

  /** Finds the length of the next window. False when the frame at the head is too long. */
  private boolean size() {
    final int left = left();
    final int begun = left == 0 ? 0 : head.fetchedLength(scratch, IMAGE + imageLength - left);
    if (begun > maxLength) {
      return false;
    }
    needed = begun;
    if (begun != 0 || left != imageLength) {
      misses = 0;
    } else {
      batch = 0;
      if (++misses > MAX_MISSES) {
        window = MIN_WINDOW;
      }
    }
    if (sized) {
      return true;
    }
    if (left == 0 || begun > left) {
      grow(imageLength - left);
    } else if (begun == 0 && left != imageLength) {
      fit(batch + imageLength - left);
    }
    return true;
  }

  /** So much has come, and no more for now. */
  private void fit(int brought) {
    sized = true;
    batch = 0;
    window = Math.min(Math.max(Integer.highestOneBit(2 * brought - 1), MIN_WINDOW), MAX_WINDOW);
  }

  private void grow(int brought) {
    sized = true;
    if (imageLength <= window) { // no longer, for a frame that says nothing of those behind it
      batch = Math.min(batch + brought, MAX_WINDOW);
    }
    window = Math.min(2 * window, MAX_WINDOW);
  }

  /** True when a frame has begun at the head, as far as was fetched: there is more to come. */
  public boolean hasFrame() {
    final int left = left();
    return left > 0 && head.fetchedLength(scratch, IMAGE + imageLength - left) != 0;
  }

  /** True when the last read goes as far as the head, and no frame has begun there. */
  public boolean foundNothing() {
    return left() > 0 && !hasFrame();
  }

  /** Bytes of the image from the head on: what came before it was taken, here or elsewhere. */
  private int left() {
    final long taken = (head.position() - imagePosition) * SLOT_LENGTH;
    return pending ? 0 : (int) Math.max(0, imageLength - taken);
  }

  /** True when the last read has brought the peer's control line. */
  public boolean hasLine() {
    return line;
  }

  /** Position up to which the peer has consumed, see {@link RingWriter#onConsumed}. */
  public long lineConsumed() {
    return lineConsumed;
  }

  /** How many reads of registered memory the peer has done. */
  public long lineReleased() {
    return lineReleased;
  }

  /** True when the peer waits for its doorbell. */
  public boolean lineSleeping() {
    return lineSleeping;
  }

  /** True when the peer has output and no credit. */
  public boolean lineBlocked() {
    return lineBlocked;
  }
}

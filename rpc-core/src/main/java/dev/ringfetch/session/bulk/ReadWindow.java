package dev.ringfetch.session.bulk;

import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.session.owner.OwnedBy;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The window of READs that bring long messages out of the peer's registered memory: some pieces of
 * scratch memory, each filled by one READ and emptied in the order of posting. A piece has arrived
 * when its completion has, and not before.
 *
 * <p>When the connection ends, pieces that have not arrived never do: the queue pair's listener is
 * told.
 */
@OwnedBy("session")
public final class ReadWindow {
  /** Longest piece in bytes: what a small frame behind it in the send queue may wait for. */
  public static final int PIECE_LENGTH = 64 * 1024;

  /** Pieces: while one is emptied, the device fills others. */
  static final int PIECES = 4;

  private static final int WORD = Long.BYTES;
  private static final int STRIDE = PIECE_LENGTH + 64; // a piece may begin and end within a word
  private static final int COMPLETIONS = 2 * PIECES; // a poll

  /** Length of the scratch memory, in bytes. */
  static final int LENGTH = PIECES * STRIDE;

  private final QueuePair queuePair;
  private final CompletionRouter completions;
  private final long workRequestId;
  private final int[] starts = new int[PIECES]; // in the scratch, in bytes
  private final int[] lengths = new int[PIECES];
  private @Nullable MemoryRegion scratch; // null until opened
  private long posted; // pieces
  private long arrived;
  private long emptied;
  private boolean failed;

  /** Creates a window without memory. */
  public ReadWindow(QueuePair queuePair, CompletionRouter completions) {
    this.queuePair = queuePair;
    this.completions = completions;
    this.workRequestId = completions.add(this::onCompletion);
  }

  /**
   * Registers the scratch memory, unless it is there already.
   *
   * @throws IOException when it is not to be had.
   */
  void open() throws IOException {
    if (scratch == null) {
      scratch = queuePair.scratch(LENGTH);
    }
  }

  /** True when a further piece can be posted. */
  public boolean hasRoom() {
    return posted - emptied < PIECES && !failed;
  }

  /**
   * Posts the READ of a piece.
   *
   * @param offset in the memory, in bytes; of any alignment.
   * @param length in bytes, at most {@link #PIECE_LENGTH}.
   * @return {@link QueuePair#POSTED}, {@link QueuePair#SEND_QUEUE_FULL} or {@link
   *     QueuePair#CLOSED}.
   */
  public int post(RemoteMemory memory, int offset, int length) {
    final int piece = (int) posted % PIECES;
    final int skipped = offset & (WORD - 1);
    final int covered = (skipped + length + WORD - 1) & -WORD; // the memory ends with a word
    final int result =
        queuePair.read(
            memory, offset - skipped, scratch, piece * STRIDE, covered, 0, workRequestId);
    if (result == QueuePair.POSTED) {
      starts[piece] = piece * STRIDE + skipped;
      lengths[piece] = length;
      posted++;
    }
    return result;
  }

  private void onCompletion(long id, int status, long value) {
    if (status == QueuePair.SUCCESS && !failed) {
      arrived++;
    } else {
      failed = true; // the connection has ended, of which the listener is told
    }
  }

  /** Takes completions of the device, if pieces are awaited. */
  public void poll() {
    if (posted != arrived) {
      completions.poll(COMPLETIONS);
    }
  }

  /** True when the first piece has arrived. */
  public boolean hasArrived() {
    return arrived != emptied;
  }

  /** Length of the first piece, in bytes. */
  public int length() {
    return lengths[(int) emptied % PIECES];
  }

  /** Copies the first piece, which has arrived, out of the scratch memory. */
  public void copy(byte[] destination, int offset) {
    final int piece = (int) emptied % PIECES;
    scratch.getBytes(starts[piece], destination, offset, lengths[piece]);
  }

  /** Frees the first piece, which has arrived. */
  public void free() {
    emptied++;
  }
}

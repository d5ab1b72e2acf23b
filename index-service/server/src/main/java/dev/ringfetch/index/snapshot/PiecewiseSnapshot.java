package dev.ringfetch.index.snapshot;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.journal.SnapshotRecords;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.outcome.NumberedClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a group in pieces: its outcomes and entries, and then its clients. A piece has at
 * most {@value #PIECE_LENGTH} bytes, or one record that is longer.
 */
public abstract class PiecewiseSnapshot extends SnapshotRecords implements GroupSnapshot {
  public static final int PIECE_LENGTH = 64 << 10;

  /** Steps for one piece, however few records they have: the owner has more to do. */
  private static final int STEPS = 64;

  /** Clients of a step. */
  private static final int STEP_CLIENTS = 64;

  private enum State {
    WALKING,
    CLIENTS,
    DONE,
    FAILED
  }

  private final Runnable wake;
  private final ByteArrayOutputStream piece = new ByteArrayOutputStream(PIECE_LENGTH);
  private final ArrayDeque<ByteString> full = new ArrayDeque<>(); // pieces that are made
  private State state = State.WALKING;
  private @Nullable Iterator<NumberedClient> clients; // null before they come

  /**
   * Creates it.
   *
   * @param wake is run, on any thread, when there may be a next piece
   */
  PiecewiseSnapshot(Runnable wake) {
    super(0);
    this.wake = wake;
  }

  /** Takes the walk over the entries one step on. */
  abstract IndexWalk.Step walk() throws IOException;

  /**
   * The clients, asked for after the walk: an outcome that was not kept any more is below what they
   * say. They may come and go meanwhile.
   */
  abstract Iterator<NumberedClient> clients();

  @Override
  protected final void add(byte[] array, int recordLength) {
    if (piece.size() > 0 && piece.size() + recordLength > PIECE_LENGTH) {
      endPiece();
    }
    piece.write(array, 0, recordLength);
  }

  private void endPiece() {
    full.add(UnsafeByteOperations.unsafeWrap(piece.toByteArray()));
    piece.reset();
  }

  @Override
  public final boolean isFull() {
    return !full.isEmpty();
  }

  @Override
  public final ByteString next() {
    try {
      boolean goesOn = state != State.DONE && state != State.FAILED;
      for (int left = STEPS; goesOn && full.isEmpty(); left--) {
        if (left == 0) {
          wake.run();
          return ByteString.EMPTY;
        }
        goesOn = step();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e); // nothing here does that
    }
    if (state == State.FAILED) {
      return ByteString.EMPTY;
    }
    if (full.isEmpty() && piece.size() > 0) {
      endPiece();
    }
    if (!full.isEmpty()) {
      return full.poll();
    }
    return state == State.DONE ? null : ByteString.EMPTY;
  }

  private boolean step() throws IOException {
    if (state == State.CLIENTS) {
      for (int i = 0; i < STEP_CLIENTS && clients.hasNext(); i++) {
        final NumberedClient client = clients.next();
        client(client.id(), client.firstIncomplete());
      }
      if (clients.hasNext()) {
        return true;
      }
      state = State.DONE;
      return false;
    }
    switch (walk()) {
      case MORE -> {}
      case WAITING -> {
        return false;
      }
      case DONE -> {
        clients = clients();
        state = State.CLIENTS;
      }
      case ENDED -> {
        state = State.FAILED;
        return false;
      }
    }
    return true;
  }

  @Override
  public final boolean isFailed() {
    return state == State.FAILED;
  }

  @Override
  public final void close() {
    // Nobody holds anything of it but a step under way.
  }
}

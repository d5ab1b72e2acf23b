package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.SnapshotRecords;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.replication.GroupSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A snapshot of a group in pieces: its entries with their outcomes, and then its clients. */
abstract class PiecewiseSnapshot extends SnapshotRecords implements GroupSnapshot {
  private static final int PIECE_LENGTH = 64 << 10;

  private enum State {
    WALKING,
    CLIENTS,
    DONE,
    FAILED
  }

  private final ByteArrayOutputStream piece = new ByteArrayOutputStream(PIECE_LENGTH);
  private State state = State.WALKING;

  PiecewiseSnapshot() {
    super(0);
  }

  /** Takes the walk over the entries one step on. */
  abstract IndexWalk.Step walk() throws IOException;

  /** The clients, after the walk: an outcome that was not kept any more is below what they say. */
  abstract void clients(List<NumberedClient> to);

  /** Notes that there is nothing to walk over. */
  final void fail() {
    state = State.FAILED;
  }

  @Override
  protected final void add(byte[] array, int recordLength) {
    piece.write(array, 0, recordLength);
  }

  @Override
  public final boolean isFull() {
    return piece.size() >= PIECE_LENGTH;
  }

  @Override
  public final ByteString next() {
    if (state == State.DONE || state == State.FAILED) {
      return state == State.DONE ? null : ByteString.EMPTY;
    }
    try {
      boolean goesOn = true;
      while (goesOn && !isFull()) {
        goesOn = step();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e); // nothing here does that
    }
    final ByteString next = ByteString.copyFrom(piece.toByteArray());
    piece.reset();
    return next;
  }

  private boolean step() throws IOException {
    if (state == State.CLIENTS) {
      final List<NumberedClient> clients = new ArrayList<>();
      clients(clients);
      for (final NumberedClient client : clients) {
        client(client.id(), client.firstIncomplete());
      }
      state = State.DONE;
      return false;
    }
    switch (walk()) {
      case MORE -> {}
      case WAITING -> {
        return false;
      }
      case DONE -> state = State.CLIENTS;
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

package dev.ringfetch.session;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The streams of a server's session by their index: those that are open, the id that each index had
 * last, and spare objects for the next ones. The tables grow with the highest index. Belongs to the
 * owner of the session, but for the number of open streams.
 */
final class ServerStreams {
  private static final int MAX_POOLED = 1024;
  private static final int FIRST_LENGTH = 64;

  private final int length;
  private ServerStream[] open;
  private int[] closedIds;
  private final List<ServerStream> pool = new ArrayList<>();
  private final AtomicInteger openCount = new AtomicInteger(); // the owner alone writes

  ServerStreams(int maxStreams) {
    this.length = maxStreams + 1;
    this.open = new ServerStream[Math.min(length, FIRST_LENGTH)];
    this.closedIds = new int[open.length];
  }

  /** One more than the highest index; the lowest is 1. */
  int length() {
    return length;
  }

  /** All streams that are open have indexes below this one. */
  int bound() {
    return open.length;
  }

  /** How many are open; any thread. */
  int openCount() {
    return openCount.getOpaque();
  }

  /** The stream that is open at an index. */
  @Nullable ServerStream get(int index) {
    return index < open.length ? open[index] : null;
  }

  /** True when this very stream is open, not just another one with its index. */
  boolean isOpen(ServerStream stream) {
    return get(stream.index()) == stream;
  }

  /** True while the rest of some stream's unit has to come. */
  boolean hasPartial() {
    for (final ServerStream stream : open) {
      if (stream != null && stream.incoming.isPartial()) {
        return true;
      }
    }
    return false;
  }

  /** True when the last stream that was closed at the index of this id had this id. */
  boolean isClosed(int id) {
    final int index = id & Stream.INDEX_MASK;
    return index < closedIds.length && closedIds[index] == id;
  }

  /** Opens a stream for an id with a free index. */
  ServerStream open(int id) {
    final ServerStream stream = pool.isEmpty() ? new ServerStream() : pool.remove(pool.size() - 1);
    stream.id = id;
    reserve(stream.index());
    if (open[stream.index()] == null) {
      openCount.setOpaque(openCount.getPlain() + 1);
    }
    open[stream.index()] = stream;
    return stream;
  }

  /** Grows both tables, or neither where there is no memory for one. */
  private void reserve(int index) {
    if (index >= open.length) {
      final int grown = Math.min(length, Math.max(index + 1, 2 * open.length));
      final int[] ids = Arrays.copyOf(closedIds, grown);
      open = Arrays.copyOf(open, grown);
      closedIds = ids;
    }
  }

  /** Closes a stream, for which nothing comes any more, and frees its index. */
  void close(ServerStream stream) {
    if (open[stream.index()] != null) {
      openCount.setOpaque(openCount.getPlain() - 1);
    }
    open[stream.index()] = null;
    closedIds[stream.index()] = stream.id;
  }

  /** Keeps an unused stream for the next call, if there is room. */
  void recycle(ServerStream stream) {
    if (pool.size() < MAX_POOLED) {
      stream.reset();
      pool.add(stream);
    }
  }
}

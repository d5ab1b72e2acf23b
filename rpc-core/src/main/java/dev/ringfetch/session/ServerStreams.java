package dev.ringfetch.session;

import java.util.ArrayDeque;

/**
 * The streams of a server's session by their index: those that are open, the id that each index had
 * last, and objects for the next ones. Belongs to the owner of the session.
 */
final class ServerStreams {
  private static final int MAX_POOLED = 1024;

  private final ServerStream[] open;
  private final int[] closedIds;
  private final ArrayDeque<ServerStream> pool = new ArrayDeque<>();

  ServerStreams(int maxStreams) {
    this.open = new ServerStream[maxStreams + 1];
    this.closedIds = new int[maxStreams + 1];
  }

  /** One more than the highest index; the lowest is 1. */
  int length() {
    return open.length;
  }

  /** The stream that is open at an index, or null. */
  ServerStream get(int index) {
    return open[index];
  }

  /** True when a stream is open, and not only one that has its index. */
  boolean isOpen(ServerStream stream) {
    return open[stream.index()] == stream;
  }

  /** True when the last stream that was closed at the index of an id had this one. */
  boolean isClosed(int id) {
    return closedIds[id & Stream.INDEX_MASK] == id;
  }

  /** A stream for an id whose index has none. */
  ServerStream open(int id) {
    final ServerStream pooled = pool.poll();
    final ServerStream stream = pooled != null ? pooled : new ServerStream();
    stream.id = id;
    open[stream.index()] = stream;
    return stream;
  }

  /** Nothing comes for a stream any more, and its index is free. */
  void close(ServerStream stream) {
    open[stream.index()] = null;
    closedIds[stream.index()] = stream.id;
  }

  /** Keeps a stream for the next call, if there is room: nobody refers to it. */
  void recycle(ServerStream stream) {
    if (pool.size() < MAX_POOLED) {
      stream.reset();
      pool.push(stream);
    }
  }
}

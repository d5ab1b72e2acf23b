package dev.ringfetch.session;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The streams of a client's session by their index, and the indexes that are free. Any thread takes
 * a stream and gives it back.
 */
final class ClientStreams {
  private final AtomicReferenceArray<ClientStream> streams;
  private final FreeList free;

  ClientStreams(int maxStreams) {
    this.streams = new AtomicReferenceArray<>(maxStreams + 1);
    this.free = new FreeList(maxStreams + 1);
    for (int index = maxStreams; index > 0; index--) {
      free.give(index);
    }
  }

  /** One more than the highest index; the lowest is 1. */
  int length() {
    return streams.length();
  }

  /** The stream of an index, open or not; null before its first call. */
  ClientStream get(int index) {
    return streams.get(index);
  }

  /** Takes a free stream, or returns null when there is none. */
  ClientStream open() {
    final int index = free.take();
    if (index == FreeList.NONE) {
      return null;
    }
    ClientStream stream = streams.get(index);
    if (stream == null) {
      stream = new ClientStream(index);
      streams.set(index, stream);
    }
    return stream;
  }

  /** Gives a stream back that nobody uses any more: the next call gets it, with another id. */
  void recycle(ClientStream stream) {
    final int index = stream.index();
    stream.reset();
    free.give(index);
  }

  /** Gives the index of a flow back: the next call gets another stream, this one may be in use. */
  void replace(ClientStream stream) {
    final int index = stream.index();
    streams.set(index, stream.next());
    free.give(index);
  }
}

package dev.ringfetch.session;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The streams of a client's session by their index, and the indexes that are free. Any thread takes
 * a stream and gives it back. The table grows with the calls that were under way at once: an idle
 * session uses next to no memory for it.
 */
final class ClientStreams {
  private static final int CHUNK_BITS = 8;
  private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;

  private final int maxStreams;
  private final AtomicReferenceArray<AtomicReferenceArray<ClientStream>> chunks;
  private final AtomicInteger used = new AtomicInteger(); // the highest index so far
  private final FreeList free; // of the indexes up to it

  ClientStreams(int maxStreams) {
    this.maxStreams = maxStreams;
    this.chunks = new AtomicReferenceArray<>((maxStreams >>> CHUNK_BITS) + 1);
    this.free = new FreeList(maxStreams + 1);
  }

  /** One more than the highest index; the lowest is 1. */
  int length() {
    return maxStreams + 1;
  }

  /** All existing streams have indexes below this one. */
  int bound() {
    return used.get() + 1;
  }

  /** The stream of an index, open or not; null before its first call. */
  @Nullable ClientStream get(int index) {
    final AtomicReferenceArray<ClientStream> chunk = chunks.get(index >>> CHUNK_BITS);
    return chunk == null ? null : chunk.get(index & CHUNK_MASK);
  }

  /** Takes a free stream, or returns null when there is none. */
  @Nullable ClientStream open() {
    final int index = free.take();
    if (index != FreeList.NONE) {
      return get(index);
    }
    final int unused = takeUnused();
    if (unused != FreeList.NONE) {
      return create(unused);
    }
    final int given = free.take(); // while another thread took the last unused one
    return given == FreeList.NONE ? null : get(given);
  }

  private int takeUnused() {
    int before;
    do {
      before = used.get();
      if (before == maxStreams) {
        return FreeList.NONE;
      }
    } while (!used.compareAndSet(before, before + 1));
    return before + 1;
  }

  private ClientStream create(int index) {
    free.reserve(index);
    final int chunk = index >>> CHUNK_BITS;
    if (chunks.get(chunk) == null) {
      chunks.compareAndSet(chunk, null, new AtomicReferenceArray<>(CHUNK_MASK + 1));
    }
    final ClientStream stream = new ClientStream(index);
    put(index, stream);
    return stream;
  }

  private void put(int index, ClientStream stream) {
    chunks.get(index >>> CHUNK_BITS).set(index & CHUNK_MASK, stream);
  }

  /** Gives an unused stream back: the next call gets it, with another id. */
  void recycle(ClientStream stream) {
    final int index = stream.index();
    stream.reset();
    free.give(index);
  }

  /** Gives the index of a flow back: the next call gets another stream, this one may be in use. */
  void replace(ClientStream stream) {
    final int index = stream.index();
    put(index, stream.next());
    free.give(index);
  }
}

package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.direct.DirectSink;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.FollowResponse;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import io.grpc.Channel;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The readers of one index's memory, each of which one thread uses at a time. Opened on demand, up
 * to a limit; a thread that finds none free makes a call. Safe for use by many threads.
 */
final class DirectReads implements AutoCloseable {
  /** The most readers of an index: each has a grant, and a server's connection has 64 of them. */
  static final int LIMIT = 8;

  private enum State {
    OPEN,
    CLOSED
  }

  private final Channel channel;
  private final String index;
  private final DirectContext context;
  private final RouteShares shares;
  private final AtomicReferenceArray<Reader> idle = new AtomicReferenceArray<>(LIMIT);
  private final AtomicInteger opened = new AtomicInteger();
  private volatile State state = State.OPEN;

  DirectReads(Channel channel, String index, DirectContext context, ClientMetrics metrics) {
    this.channel = channel;
    this.index = index;
    this.context = context;
    shares = new RouteShares(index, metrics);
  }

  /** A reader with the value that it reads into. */
  static final class Reader {
    private final DirectReader reader;
    private final DirectValue value = new DirectValue();
    private boolean used; // before it was given back

    private Reader(DirectReader reader) {
      this.reader = reader;
    }

    /**
     * True if the reader can be used. If false, it did not get its first grant in time, and the
     * read goes by a call.
     */
    boolean isReady() {
      return used || isDirect();
    }

    /** Whether it has a grant; without one it reads by calls. */
    boolean isDirect() {
      return reader.isDirect();
    }

    /** Looks a key up. The value is replaced by the next look-up. */
    boolean get(ByteString key) {
      return reader.get(key, value);
    }

    /** Looks a key up in memory alone. The value is replaced by the next look-up. */
    DirectLook look(ByteString key) {
      return reader.look(key, value);
    }

    DirectValue value() {
      return value;
    }

    void batchGet(List<ByteString> keys, DirectValue[] values, boolean[] present) {
      reader.batchGet(keys, values, present);
    }

    /** Keys that were read by calls so far. */
    long callReads() {
      return reader.callReads();
    }

    /** Reads on; returns whether entries may be left. */
    boolean scan(DirectScan scan, DirectSink sink) {
      return reader.scan(scan, sink);
    }

    /** Searches on in memory alone. */
    DirectLook search(DirectSearch search, DirectSink sink) {
      return reader.search(search, sink);
    }

    /** The nearest entries; null if a call has to find them. */
    NearestResponse nearest(NearestRequest request) {
      return reader.nearest(request);
    }

    /** A chain of entries; null if a call has to find them. */
    FollowResponse follow(FollowRequest request) {
      return reader.follow(request);
    }

    /** Pages that were read by calls so far. */
    long scanCalls() {
      return reader.scanCalls();
    }
  }

  /** The route of the reads of views with an access that is not by calls alone. */
  DirectRoute route(Access access) {
    return new DirectRoute(this, access == Access.ADAPTIVE ? shares : null);
  }

  /**
   * Takes a reader, which the caller gives back; null if all are in use. Opening a reader does not
   * count against the deadline of the run.
   */
  Reader borrow(OperationRun run) {
    Reader reader = takeIdle();
    if (reader == null && state == State.OPEN && reserve()) {
      reader = open(run);
    }
    if (reader != null) {
      reader.reader.timeoutNs(run.timeoutNs());
    }
    return reader;
  }

  private Reader takeIdle() {
    final int home = home();
    for (int i = 0; i < LIMIT && state == State.OPEN; i++) {
      final int place = (home + i) % LIMIT;
      if (idle.get(place) != null) {
        final Reader reader = idle.getAndSet(place, null);
        if (reader != null) {
          return reader;
        }
      }
    }
    return null;
  }

  private Reader open(OperationRun run) {
    boolean done = false;
    try {
      final Reader reader = new Reader(DirectReader.open(channel, index, context));
      run.extend();
      done = true;
      return reader;
    } finally {
      if (!done) {
        opened.decrementAndGet();
      }
    }
  }

  private boolean reserve() {
    final int count = opened.get();
    return count < LIMIT && opened.compareAndSet(count, count + 1);
  }

  /** Gives a reader back. After {@link #close} it is closed. */
  void giveBack(Reader reader) {
    reader.used = true;
    int place = home();
    while (!idle.compareAndSet(place, null, reader)) {
      place = (place + 1) % LIMIT; // there are as many places as readers
    }
    if (state == State.CLOSED) {
      closeIdle();
    }
  }

  private static int home() {
    return (int) (Thread.currentThread().getId() % LIMIT);
  }

  /** Closes the readers that are not in use; each other one is closed when it is given back. */
  @Override
  public void close() {
    state = State.CLOSED;
    closeIdle();
  }

  private void closeIdle() {
    for (int i = 0; i < LIMIT; i++) {
      final Reader reader = idle.getAndSet(i, null);
      if (reader != null) {
        reader.reader.close();
      }
    }
  }
}

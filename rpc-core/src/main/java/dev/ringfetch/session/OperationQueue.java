package dev.ringfetch.session;

import dev.ringfetch.session.owner.SharedField;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The queue of streams with operations for the owner, in the order of their requests. Any thread
 * adds, the owner takes all at once. Intrusive: bounded by the number of streams, and nothing is
 * allocated.
 */
final class OperationQueue {
  private static final VarHandle HEAD =
      SharedField.of(MethodHandles.lookup(), "head", Stream.class);

  @SuppressWarnings("unused") // through HEAD
  private volatile Stream head;

  /** Adds a stream that is not in the queue. */
  void add(Stream stream) {
    Stream before;
    do {
      before = (Stream) HEAD.getVolatile(this);
      stream.nextOperation = before;
    } while (!HEAD.compareAndSet(this, before, stream));
  }

  boolean isEmpty() {
    return (Stream) HEAD.getVolatile(this) == null;
  }

  /** Takes all streams: returns the first, linked by {@code nextOperation} to the later ones. */
  Stream takeAll() {
    if (isEmpty()) {
      return null;
    }
    Stream latest = (Stream) HEAD.getAndSet(this, (Stream) null);
    Stream first = null;
    while (latest != null) {
      final Stream earlier = latest.nextOperation;
      latest.nextOperation = first;
      first = latest;
      latest = earlier;
    }
    return first;
  }
}

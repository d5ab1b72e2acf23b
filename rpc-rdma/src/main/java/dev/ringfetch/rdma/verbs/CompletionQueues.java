package dev.ringfetch.rdma.verbs;

import java.io.IOException;

/**
 * Completion queues, and the channels that wake who sleeps on them. {@link #poll} and {@link #arm}
 * may be called from any thread; nothing of the data path throws.
 */
final class CompletionQueues {
  private CompletionQueues() {}

  /** Creates a channel of completion events; its descriptor is non-blocking. */
  static native long createChannel(long context) throws IOException;

  /** Descriptor that is readable when a channel has events. */
  static native int channelDescriptor(long channel);

  /** Destroys a channel that has no more queues. */
  static native void destroyChannel(long channel) throws IOException;

  /**
   * Creates a queue.
   *
   * @param channel that is told of events, or 0.
   * @param entries that it holds at least; more completions than that break it.
   * @param vector of interrupts that it is served by.
   */
  static native long create(long context, long channel, int entries, int vector) throws IOException;

  /** Destroys a queue; waits until its events are acknowledged. */
  static native void destroy(long queue) throws IOException;

  /**
   * Takes completions.
   *
   * @param limit how many at most.
   * @param out address of that many entries as {@link CompletionLayout} has them.
   * @return how many were taken, or a negative errno.
   */
  static native int poll(long queue, int limit, long out);

  /**
   * Asks for one event when the next completion arrives. Poll once more before sleeping: what has
   * arrived already makes no event.
   *
   * @param solicitedOnly whether only a completion whose sender asked for it, or an error, counts.
   * @return 0 or a negative errno.
   */
  static native int arm(long queue, boolean solicitedOnly);

  /**
   * Takes a channel's next event.
   *
   * @return the queue that it is of, 0 if there is none, or a negative errno.
   */
  static native long nextEvent(long channel);

  /** Acknowledges events of a queue; takes a lock, so better several at once. */
  static native void acknowledge(long queue, int events);
}

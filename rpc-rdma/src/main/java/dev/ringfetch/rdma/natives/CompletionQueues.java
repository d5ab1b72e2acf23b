package dev.ringfetch.rdma.natives;

/**
 * Native operations on completion queues and on the channels that wake threads sleeping on them;
 * both are DiSNI's objects, passed as {@link Disni#handle handles}. {@link #poll} and {@link #arm}
 * may be called from any thread; the calls of the data path never throw.
 */
public final class CompletionQueues {
  private CompletionQueues() {}

  /** Descriptor that is readable when a channel has events. */
  public static native int channelDescriptor(long channel);

  /**
   * Takes completions.
   *
   * @param limit how many at most.
   * @param out address of that many entries as {@link CompletionLayout} has them.
   * @return how many were taken, or a negative errno.
   */
  public static native int poll(long queue, int limit, long out);

  /**
   * Asks for one event when the next completion arrives. Poll once more before sleeping: a
   * completion that has already arrived causes no event.
   *
   * @param solicitedOnly whether only a completion whose sender asked for it, or an error, counts.
   * @return 0 or a negative errno.
   */
  public static native int arm(long queue, boolean solicitedOnly);

  /**
   * Takes a channel's next event.
   *
   * @return the event's queue, 0 if there is none, or a negative errno.
   */
  public static native long nextEvent(long channel);

  /** Acknowledges events of a queue; takes a lock, so better several at once. */
  public static native void acknowledge(long queue, int events);
}

package dev.ringfetch.rdma.natives;

import java.io.IOException;

/**
 * Descriptors of the operating system, so that one thread can sleep on completion channels, event
 * channels and a wake-up of its own at once. Any thread.
 */
public final class FileDescriptors {
  private FileDescriptors() {}

  /**
   * Waits until one of several descriptors is ready, or the time is over.
   *
   * @param fds address of entries as {@link PollLayout} has them; their results are filled in.
   * @param count of the entries.
   * @param timeoutNs in nanoseconds; 0 only looks, a negative one waits without end.
   * @return how many are ready, 0 on timeout, or a negative errno. Signals do not end it.
   */
  public static native int poll(long fds, int count, long timeoutNs);

  /** Creates a descriptor that is readable between {@link #signal} and {@link #drain}. */
  public static native int createEvent() throws IOException;

  /** Makes an event's descriptor readable; signals merge. Returns 0 or a negative errno. */
  public static native int signal(int event);

  /** Makes an event's descriptor unreadable. Returns 0 or a negative errno. */
  public static native int drain(int event);

  /** Closes an event's descriptor. Returns 0 or a negative errno. */
  public static native int close(int event);
}

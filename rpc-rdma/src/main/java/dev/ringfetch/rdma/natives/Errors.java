package dev.ringfetch.rdma.natives;

/** Texts for the error numbers of verbs. */
public final class Errors {
  private Errors() {}

  /** Text of an errno, negative or positive. */
  public static native String errnoText(int errno);

  /** Text of a completion's status. */
  public static native String completionText(int status);

  /** Name of an event of the connection manager. */
  public static native String connectionEventText(int type);

  /** Name of a device's asynchronous event. */
  public static native String deviceEventText(int type);
}

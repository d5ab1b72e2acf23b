package dev.ringfetch.rdma.verbs;

/** Texts for the numbers with which verbs tell what went wrong. */
final class Errors {
  private Errors() {}

  /** Text of an errno, negative or positive. */
  static native String errnoText(int errno);

  /** Text of a completion's status. */
  static native String completionText(int status);

  /** Name of an event of the connection manager. */
  static native String connectionEventText(int type);

  /** Name of a device's asynchronous event. */
  static native String deviceEventText(int type);
}

package dev.ringfetch.rdma.verbs;

/**
 * Asynchronous events of a device, as {@link Devices#nextEvent} writes them: offsets in bytes and
 * values.
 */
final class DeviceEventLayout {
  /** Bytes of an event. */
  static final int SIZE = 16;

  /** 8 bytes: what it is of, a native pointer or a port's number. */
  static final int ELEMENT = 0;

  /** 4 bytes; {@link Errors#deviceEventText} names it. */
  static final int TYPE = 8;

  /** 4 bytes: what the element is. */
  static final int KIND = 12;

  /** Kind: the whole device has failed. */
  static final int DEVICE = 0;

  /** Kind. */
  static final int PORT = 1;

  /** Kind. */
  static final int QUEUE_PAIR = 2;

  /** Kind. */
  static final int COMPLETION_QUEUE = 3;

  /** Kind: the element is not told. */
  static final int OTHER = 4;

  private DeviceEventLayout() {}
}

package dev.ringfetch.rdma.natives;

/**
 * Asynchronous events of a device, as {@link Devices#nextEvent} writes them: offsets in bytes and
 * values.
 */
public final class DeviceEventLayout {
  /** Bytes of an event. */
  public static final int SIZE = 16;

  /** 8 bytes: the element, a native pointer or a port's number. */
  public static final int ELEMENT = 0;

  /** 4 bytes; {@link Errors#deviceEventText} names it. */
  public static final int TYPE = 8;

  /** 4 bytes: the element's kind. */
  public static final int KIND = 12;

  /** Kind: the whole device has failed. */
  public static final int DEVICE = 0;

  /** Kind. */
  public static final int PORT = 1;

  /** Kind. */
  public static final int QUEUE_PAIR = 2;

  /** Kind. */
  public static final int COMPLETION_QUEUE = 3;

  /** Kind: the event does not name the element. */
  public static final int OTHER = 4;

  private DeviceEventLayout() {}
}

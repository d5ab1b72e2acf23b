package dev.ringfetch.rdma.natives;

import java.io.IOException;

/**
 * Native operations on devices: their names, capabilities and events. The queries take any context:
 * of {@link #open}, or of a connection ({@link ConnectionManager#context}).
 */
public final class Devices {
  private Devices() {}

  /** Names of all devices. */
  public static native String[] names() throws IOException;

  /** Opens a device by its name. */
  public static native long open(String name) throws IOException;

  /** Closes a context of {@link #open} in which nothing is left. */
  public static native void close(long context) throws IOException;

  /**
   * Abandons the context of a removed device, also one that belongs to the connection manager and
   * must not be closed: later calls on its objects do nothing and report no error.
   */
  public static native void abandon(long context) throws IOException;

  /** Name of a context's device. */
  public static native String name(long context);

  /** Copies what the device can do: {@link DeviceLayout#SIZE} bytes. */
  public static native void query(long context, long out) throws IOException;

  /** Copies the state of a port, counted from 1: {@link PortLayout#SIZE} bytes. */
  public static native void queryPort(long context, int port, long out) throws IOException;

  /**
   * Copies an address of a port: {@link PortLayout#GID_SIZE} bytes.
   *
   * @throws IOException also where the table has no entry at the index (ENODATA).
   */
  public static native void queryGid(long context, int port, int index, long out)
      throws IOException;

  /** Descriptor that is readable when the device has events; non-blocking from here on. */
  public static native int eventDescriptor(long context) throws IOException;

  /**
   * Takes a device's next event, acknowledged already, in the layout of {@link DeviceEventLayout}.
   * Call {@link #eventDescriptor} first, or this waits.
   *
   * @return 1, 0 if there is none, or a negative errno.
   */
  public static native int nextEvent(long context, long out);
}

package dev.ringfetch.rdma.natives;

/**
 * Capabilities of a device, {@code ibv_device_attr}, as {@link Devices#query} writes it: offsets in
 * bytes and values.
 */
public final class DeviceLayout {
  /** Bytes of the attributes. */
  public static final int SIZE = 232;

  /** 8 bytes. */
  public static final int MAX_REGION_SIZE = 80;

  /** 4 bytes. */
  public static final int MAX_QUEUE_PAIRS = 108;

  /** 4 bytes: outstanding on one queue. */
  public static final int MAX_REQUESTS = 112;

  /** 4 bytes: flags. */
  public static final int CAPABILITIES = 116;

  /** 4 bytes. */
  public static final int MAX_SCATTERS = 120;

  /** 4 bytes. */
  public static final int MAX_READ_SCATTERS = 124;

  /** 4 bytes: in one queue. */
  public static final int MAX_COMPLETIONS = 132;

  /** 4 bytes: READs and atomics of one peer outstanding here. */
  public static final int MAX_PEER_READS = 144;

  /** 4 bytes: own READs and atomics outstanding per queue pair. */
  public static final int MAX_READS = 156;

  /** 4 bytes: a level. */
  public static final int ATOMICS = 164;

  /** 4 bytes. */
  public static final int MAX_WINDOWS = 176;

  /** 4 bytes: address handles. */
  public static final int MAX_HANDLES = 200;

  /** 1 byte. */
  public static final int PORTS = 227;

  /** Level. */
  public static final int NO_ATOMICS = 0;

  /** Level: atomic among this device's own queue pairs. */
  public static final int ATOMICS_OF_DEVICE = 1;

  /** Level: atomic with the processor as well. */
  public static final int ATOMICS_OF_HOST = 2;

  /** Capability flag: invalidation by requests. */
  public static final int INVALIDATION = 2097152;

  /** Capability flag: windows of type 2, associated with a queue pair. */
  public static final int WINDOWS_2A = 8388608;

  /** Capability flag: windows of type 2, with a domain as well. */
  public static final int WINDOWS_2B = 16777216;

  private DeviceLayout() {}
}

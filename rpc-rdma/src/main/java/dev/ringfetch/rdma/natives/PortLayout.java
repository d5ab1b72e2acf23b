package dev.ringfetch.rdma.natives;

/**
 * State of a port, {@code ibv_port_attr}, and an address of it, {@code ibv_gid_entry}: offsets in
 * bytes and values.
 */
public final class PortLayout {
  /** Bytes of the state. */
  public static final int SIZE = 52;

  /** 4 bytes. */
  public static final int STATE = 0;

  /** 4 bytes: 1 is 256 bytes, each next one twice as much. */
  public static final int ACTIVE_MTU = 8;

  /** 4 bytes: entries of the table of addresses, some of them empty. */
  public static final int GIDS = 12;

  /** 4 bytes. */
  public static final int MAX_MESSAGE = 20;

  /** 2 bytes: the local identifier, 0 on Ethernet. */
  public static final int LID = 34;

  /** 1 byte. */
  public static final int LINK_LAYER = 46;

  /** State. */
  public static final int ACTIVE = 4;

  /** Link layer. */
  public static final int INFINIBAND = 1;

  /** Link layer. */
  public static final int ETHERNET = 2;

  /** Bytes of an address's entry. */
  public static final int GID_SIZE = 32;

  /** 16 bytes, within the entry. */
  public static final int GID = 0;

  /** 4 bytes, within the entry. */
  public static final int GID_TYPE = 24;

  /** Type of an address: packets in UDP. */
  public static final int ROCE_V2 = 2;

  private PortLayout() {}
}

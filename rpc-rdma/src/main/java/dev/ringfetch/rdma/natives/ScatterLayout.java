package dev.ringfetch.rdma.natives;

/** Pieces of local memory in a request, {@code ibv_sge}: offsets in bytes. */
public final class ScatterLayout {
  /** Bytes of an entry. */
  public static final int SIZE = 16;

  /** 8 bytes. */
  public static final int ADDRESS = 0;

  /** 4 bytes. */
  public static final int LENGTH = 8;

  /** 4 bytes: the region's local key; not read with inline data. */
  public static final int KEY = 12;

  private ScatterLayout() {}
}

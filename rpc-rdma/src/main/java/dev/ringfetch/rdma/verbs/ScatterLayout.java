package dev.ringfetch.rdma.verbs;

/** Pieces of local memory in a request, {@code ibv_sge}: offsets in bytes. */
final class ScatterLayout {
  /** Bytes of an entry. */
  static final int SIZE = 16;

  /** 8 bytes. */
  static final int ADDRESS = 0;

  /** 4 bytes. */
  static final int LENGTH = 8;

  /** 4 bytes: the region's local key; not read with inline data. */
  static final int KEY = 12;

  private ScatterLayout() {}
}

package dev.ringfetch.rdma.natives;

/** Entries of {@link FileDescriptors#poll}: offsets in bytes and a value. */
public final class PollLayout {
  /** Bytes of an entry. */
  public static final int SIZE = 8;

  /** 4 bytes; a negative one is skipped. */
  public static final int DESCRIPTOR = 0;

  /** 2 bytes. */
  public static final int WANTED = 4;

  /** 2 bytes, written by the call; errors count without being asked for. */
  public static final int READY = 6;

  /** Flag. */
  public static final int READABLE = 1;

  private PollLayout() {}
}

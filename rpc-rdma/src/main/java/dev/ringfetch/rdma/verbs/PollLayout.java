package dev.ringfetch.rdma.verbs;

/** Entries of {@link FileDescriptors#poll}: offsets in bytes and a value. */
final class PollLayout {
  /** Bytes of an entry. */
  static final int SIZE = 8;

  /** 4 bytes; a negative one is skipped. */
  static final int DESCRIPTOR = 0;

  /** 2 bytes. */
  static final int WANTED = 4;

  /** 2 bytes, written by the call; errors count without being asked for. */
  static final int READY = 6;

  /** Flag. */
  static final int READABLE = 1;

  private PollLayout() {}
}

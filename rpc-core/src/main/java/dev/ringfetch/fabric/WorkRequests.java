package dev.ringfetch.fabric;

/** The argument checks of all fabrics; misuse is an {@link IllegalArgumentException}. */
public final class WorkRequests {
  private WorkRequests() {}

  /** Checks that a range lies within memory of this length, all in bytes. */
  public static void checkRange(String name, int offset, int length, long limit) {
    // The last comparison cannot overflow: by then neither operand is negative.
    if (offset < 0 || length < 0 || offset > limit - length) {
      throw new IllegalArgumentException(
          "out of range: " + name + "=" + offset + " length=" + length + " limit=" + limit);
    }
  }

  /** Checks that remote memory is the one that a queue pair reaches. */
  public static void checkRemote(RemoteMemory reached, RemoteMemory remote) {
    if (!reached.equals(remote)) {
      throw new IllegalArgumentException("not this session's memory: remote=" + remote);
    }
  }

  /** Checks the length of memory that is offered, registered or read into. */
  public static void checkLength(int length) {
    if (length <= 0 || length % 64 != 0) {
      throw new IllegalArgumentException("not a positive multiple of 64: length=" + length);
    }
  }

  /** Checks the ranges of a {@link QueuePair#read}. */
  public static void checkRead(
      RemoteMemory remote,
      int remoteOffset,
      MemoryRegion local,
      int localOffset,
      int length,
      int firstOffset) {
    checkAligned("remoteOffset", remoteOffset);
    checkAligned("localOffset", localOffset);
    checkAligned("length", length);
    checkAligned("firstOffset", firstOffset);
    checkRange("remoteOffset", remoteOffset, length, remote.length());
    checkRange("localOffset", localOffset, length, local.length());
    checkRange("firstOffset", firstOffset, Long.BYTES, length);
  }

  /** Checks the range of a {@link QueuePair#sendDatagram}. */
  public static void checkDatagram(int offset, int length, long limit, int maxDatagram) {
    checkRange("offset", offset, length, limit);
    if (length == 0 || length > maxDatagram) {
      throw new IllegalArgumentException(
          "not a datagram: length=" + length + " maxDatagram=" + maxDatagram);
    }
  }

  /** Checks the ranges of a work request between local memory and a segment. */
  public static void checkTransfer(
      long offset, long segmentLength, MemoryRegion local, int localOffset, int length) {
    checkSegment(offset, length, segmentLength);
    checkRange("localOffset", localOffset, length, local.length());
  }

  /** Checks the word of an atomic in a segment. */
  public static void checkWord(long offset, long segmentLength) {
    if ((offset & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException("not a multiple of 8: offset=" + offset);
    }
    checkSegment(offset, Long.BYTES, segmentLength);
  }

  private static void checkSegment(long offset, int length, long limit) {
    if (offset < 0 || length < 0 || offset > limit - length) {
      throw new IllegalArgumentException(
          "out of range: offset=" + offset + " length=" + length + " limit=" + limit);
    }
  }

  /** Checks that a peer has granted what a work request needs. */
  public static void checkRights(Rights granted, Rights needed) {
    if (!granted.include(needed)) {
      throw new IllegalArgumentException("not granted: rights=" + granted + " needed=" + needed);
    }
  }

  /** Checks the word of an atomic. */
  public static void checkWord(RemoteMemory remote, int remoteOffset) {
    checkAligned("remoteOffset", remoteOffset);
    checkRange("remoteOffset", remoteOffset, Long.BYTES, remote.length());
  }

  private static void checkAligned(String name, int value) {
    if ((value & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException("not a multiple of 8: " + name + "=" + value);
    }
  }
}

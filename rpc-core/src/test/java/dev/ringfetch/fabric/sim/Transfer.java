package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;

/**
 * The pieces in which a range goes between remote and local memory: the aligned words of the remote
 * range, and what is left at its ends.
 */
final class Transfer {
  private static final int LINE = 64;

  private final DirectRegion remote;
  private final int remoteOffset;
  private final MemoryRegion local;
  private final int localOffset;
  private final int length;
  private final byte[] piece = new byte[Long.BYTES];
  private byte[] payload; // of a WRITE whose local memory is the caller's again

  Transfer(DirectRegion remote, int remoteOffset, MemoryRegion local, int localOffset, int length) {
    this.remote = remote;
    this.remoteOffset = remoteOffset;
    this.local = local;
    this.localOffset = localOffset;
    this.length = length;
  }

  int length() {
    return length;
  }

  /** How many pieces there are. */
  int pieces() {
    final int first = remoteOffset / Long.BYTES;
    return length == 0 ? 0 : (remoteOffset + length - 1) / Long.BYTES - first + 1;
  }

  private int begin(int number) {
    return Math.max(0, (remoteOffset / Long.BYTES + number) * Long.BYTES - remoteOffset);
  }

  private int end(int number) {
    return Math.min(length, (remoteOffset / Long.BYTES + number + 1) * Long.BYTES - remoteOffset);
  }

  /** True when the piece after this one is on another line. */
  boolean endsLine(int number) {
    return (remoteOffset + end(number)) % LINE == 0;
  }

  /** Loads a piece from remote memory: a whole word at once. */
  void read(int number) {
    final int begin = begin(number);
    final int bytes = end(number) - begin;
    final int from = remoteOffset + begin;
    final long word = remote.getLongAcquire(from & -Long.BYTES) >>> (from % Long.BYTES * 8);
    for (int i = 0; i < bytes; i++) {
      piece[i] = (byte) (word >>> (8 * i));
    }
    local.putBytes(localOffset + begin, piece, 0, bytes);
  }

  /** Gives local memory back before the range is placed. */
  void release() {
    payload = new byte[length];
    local.getBytes(localOffset, payload, 0, length);
  }

  /** Stores a piece to remote memory: a whole word at once. */
  void write(int number) {
    final int begin = begin(number);
    final int bytes = end(number) - begin;
    if (payload != null) {
      System.arraycopy(payload, begin, piece, 0, bytes);
    } else {
      local.getBytes(localOffset + begin, piece, 0, bytes);
    }
    if (bytes < Long.BYTES) {
      remote.putBytes(remoteOffset + begin, piece, 0, bytes);
      return;
    }
    long word = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      word |= (piece[i] & 0xFFL) << (8 * i);
    }
    remote.putLongRelease(remoteOffset + begin, word);
  }
}

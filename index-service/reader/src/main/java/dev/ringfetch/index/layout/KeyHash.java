package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The hash of keys, XXH64 with the seed of the index, and the use of its bits in the layout: the
 * highest bits give the partition, bits 32 to 39 the fingerprint of a slot, and the two halves the
 * place in the two tables of a partition.
 *
 * <p>A key may begin with a tag, {@code {tag}rest}: then the hash of the tag alone gives the
 * partition, so that all keys with the tag share one. The tag is what stands between a first byte
 * <code>{</code> and the next <code>}</code>, and is not empty; a key without such bytes is all its
 * own tag.
 *
 * <p>Source: Collet, "xxHash fast digest algorithm", section XXH64 (version 0.1.1). The function is
 * part of the format: another one needs another {@link StoreDescriptor#FORMAT}.
 */
public final class KeyHash {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  private KeyHash() {}

  /** XXH64 of some bytes. */
  public static long of(byte[] bytes, int offset, int length, long seed) {
    final int end = offset + length;
    int at = offset;
    long hash;
    if (length >= 32) {
      long v1 = seed + PRIME_1 + PRIME_2;
      long v2 = seed + PRIME_2;
      long v3 = seed;
      long v4 = seed - PRIME_1;
      for (; at <= end - 32; at += 32) {
        v1 = round(v1, (long) LONG.get(bytes, at));
        v2 = round(v2, (long) LONG.get(bytes, at + 8));
        v3 = round(v3, (long) LONG.get(bytes, at + 16));
        v4 = round(v4, (long) LONG.get(bytes, at + 24));
      }
      hash =
          Long.rotateLeft(v1, 1)
              + Long.rotateLeft(v2, 7)
              + Long.rotateLeft(v3, 12)
              + Long.rotateLeft(v4, 18);
      hash = merge(merge(merge(merge(hash, v1), v2), v3), v4);
    } else {
      hash = seed + PRIME_5;
    }
    hash += length;
    for (; at <= end - 8; at += 8) {
      hash ^= round(0, (long) LONG.get(bytes, at));
      hash = Long.rotateLeft(hash, 27) * PRIME_1 + PRIME_4;
    }
    if (at <= end - 4) {
      hash ^= ((int) INT.get(bytes, at) & 0xFFFF_FFFFL) * PRIME_1;
      hash = Long.rotateLeft(hash, 23) * PRIME_2 + PRIME_3;
      at += 4;
    }
    for (; at < end; at++) {
      hash ^= (bytes[at] & 0xFF) * PRIME_5;
      hash = Long.rotateLeft(hash, 11) * PRIME_1;
    }
    hash ^= hash >>> 33;
    hash *= PRIME_2;
    hash ^= hash >>> 29;
    hash *= PRIME_3;
    return hash ^ (hash >>> 32);
  }

  private static long round(long accumulator, long lane) {
    return Long.rotateLeft(accumulator + lane * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long hash, long accumulator) {
    return (hash ^ round(0, accumulator)) * PRIME_1 + PRIME_4;
  }

  /**
   * Number of the partition of a key.
   *
   * @param hash of the whole key
   * @param partitions their number, a power of two
   */
  public static int partition(
      byte[] key, int offset, int length, long hash, long seed, int partitions) {
    final int tag = tagLength(key, offset, length);
    final long chosen = tag == 0 ? hash : of(key, offset + 1, tag, seed);
    return (int) (chosen >>> 56) & (partitions - 1);
  }

  /** Length of the tag behind the first byte of a key; 0 if it has none. */
  public static int tagLength(byte[] key, int offset, int length) {
    final int limit = length == 0 || key[offset] != '{' ? 0 : length;
    for (int i = 1; i < limit; i++) {
      if (key[offset + i] == '}') {
        return i - 1;
      }
    }
    return 0;
  }

  /** The fingerprint in a key's slot, from 0 to 255. */
  public static int fingerprint(long hash) {
    return (int) (hash >>> 32) & 0xFF;
  }

  /** The half of a hash that finds the key's group and side in table 0 or 1. */
  public static int half(long hash, int table) {
    return table == 0 ? (int) hash : (int) ((hash * PRIME_1) >>> 32);
  }

  /**
   * Number of the group of a half in a table, by linear hashing.
   *
   * @param groups of the table
   */
  public static int group(int half, int groups) {
    final int power = Integer.highestOneBit(groups);
    final int wide = half & (2 * power - 1);
    return wide < groups ? wide : half & (power - 1);
  }

  /** The side of a half: 0 or 1, for one of a group's two combined buckets. */
  public static int side(int half) {
    return half >>> 31;
  }
}

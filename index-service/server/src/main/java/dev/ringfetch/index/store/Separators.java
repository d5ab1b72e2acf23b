package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyOrder;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.SizeClasses;
import java.util.Arrays;

/**
 * The separators of an ordered index, with the blocks of the long ones, which are freed when no
 * node begins at the separator any more. Used by the partition's owner alone.
 */
final class Separators {
  /** Class of the block that is reserved for any separator. */
  private static final int RESERVED_CLASS =
      SizeClasses.of((int) BlockDescriptor.length(BlockDescriptor.MAX_KEY_LENGTH, 0));

  private final BlockAllocator allocator;
  private final BlockStore blocks;
  private long versions;
  private boolean tookReserved;

  Separators(StoreMemory memory, BlockAllocator allocator, long incarnation) {
    this.allocator = allocator;
    blocks = new BlockStore(memory, NodeDescriptor.separators(incarnation), 0);
  }

  /** Reserves memory for one separator; returns false if there is none. */
  boolean reserve() {
    return allocator.reserve(RESERVED_CLASS);
  }

  /** Returns a reservation, unless the last created separator has used it. */
  void release() {
    if (!tookReserved) {
      allocator.release(RESERVED_CLASS);
    }
    tookReserved = false;
  }

  /** The empty key, at which the first node of each level begins. */
  static Separator first() {
    return new Separator(new byte[0], 0, 0, 0);
  }

  /**
   * Creates the shortest separator between two keys; its memory must be reserved. Not in use yet.
   *
   * @param before a key
   * @param after a greater one
   */
  Separator between(byte[] before, byte[] after) {
    final int common = Arrays.mismatch(before, after);
    final byte[] key = Arrays.copyOf(after, common + 1);
    final long head = KeyOrder.head(key, 0, key.length);
    final int code = KeyOrder.code(key.length);
    if (code != KeyOrder.LONG) {
      return new Separator(key, head, GroupDescriptor.slot(code, 0, 0), 0);
    }
    int sizeClass = SizeClasses.of((int) BlockDescriptor.length(key.length, 0));
    if (!allocator.reserve(sizeClass)) {
      sizeClass = RESERVED_CLASS;
      tookReserved = true;
    }
    final long address = allocator.take(sizeClass);
    blocks.write(address, key, key.length, ByteString.EMPTY, ++versions, 0);
    blocks.publish(address);
    return new Separator(key, head, GroupDescriptor.slot(code, sizeClass, address), (int) versions);
  }

  /** Notes that a node begins at a separator. */
  Separator use(Separator separator) {
    separator.uses++;
    return separator;
  }

  /** Notes that a node no longer begins at a separator; no other node refers to it. */
  void leave(Separator separator) {
    if (--separator.uses == 0 && hasBlock(separator)) {
      allocator.give(GroupDescriptor.address(separator.slot));
    }
  }

  private static boolean hasBlock(Separator separator) {
    return GroupDescriptor.sizeClass(separator.slot) != 0;
  }

  /**
   * Compares the block of a separator with its written content.
   *
   * @throws StoreDamagedException if they differ
   */
  void check(Separator separator) {
    if (hasBlock(separator)) {
      blocks.load(separator.slot);
      if ((int) blocks.version() != separator.version
          || !blocks.hasKey(separator.key, separator.key.length)) {
        throw new StoreDamagedException("not as it was written: separator=" + separator.slot);
      }
    }
  }
}

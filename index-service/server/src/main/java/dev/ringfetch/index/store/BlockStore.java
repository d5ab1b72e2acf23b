package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.SizeClasses;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The owner's access to the blocks of a partition. The owner trusts only private copies with a
 * valid checksum. Used by the partition's owner alone.
 */
final class BlockStore {
  /** Upper bound of the bytes of a header in front of the key. */
  private static final int MAX_HEADER = 64;

  private final StoreMemory memory;
  private final long incarnation;
  private final long seed;
  private final CRC32C crc = new CRC32C();

  /** A copy of a block, see {@link BlockDescriptor}. */
  private byte[] copy = new byte[256];

  private long lengths;
  private int pendingCrc;

  BlockStore(StoreMemory memory, long incarnation, long seed) {
    this.memory = memory;
    this.incarnation = incarnation;
    this.seed = seed;
  }

  long incarnation() {
    return incarnation;
  }

  /**
   * Writes an entry into a block, invisible to readers: the checksum is wrong until {@link
   * #publish}. No slot leads to a reused block when its first byte changes; a reader that is late
   * finds a wrong checksum.
   *
   * @param deadline in milliseconds since 1970; 0 if there is none
   */
  void write(
      long address, byte[] key, int keyLength, ByteString value, long version, long deadline) {
    final int length = (int) BlockDescriptor.length(keyLength, value.size(), deadline != 0);
    ensure(length);
    final int keyOffset =
        BlockDescriptor.putHeader(copy, version, keyLength, value.size(), deadline);
    System.arraycopy(key, 0, copy, keyOffset, keyLength);
    value.copyTo(copy, keyOffset + keyLength);
    lengths = BlockDescriptor.lengths(copy, length);
    pendingCrc = BlockDescriptor.crc(crc, copy, length, incarnation, address);
    BlockDescriptor.putCrc(copy, ~pendingCrc);
    memory
        .region(address)
        .putBytes(memory.offset(address), copy, BlockDescriptor.COPY_OFFSET, length);
  }

  /** Makes the last written block valid; its slot must be stored before. */
  void publish(long address) {
    memory
        .region(address)
        .putIntRelease(memory.offset(address) + BlockDescriptor.CRC_OFFSET, pendingCrc);
  }

  /**
   * Copies the block of a slot, for the methods below.
   *
   * @throws StoreDamagedException if its content is not what an owner wrote there
   */
  void load(long slot) {
    final long address = GroupDescriptor.address(slot);
    final int blockLength = SizeClasses.length(GroupDescriptor.sizeClass(slot));
    ensure(blockLength);
    memory
        .region(address)
        .getBytes(memory.offset(address), copy, BlockDescriptor.COPY_OFFSET, blockLength);
    lengths = BlockDescriptor.lengths(copy, blockLength);
    if (lengths >= 0) {
      final int stored = BlockDescriptor.getCrc(copy);
      final int used = BlockDescriptor.usedLength(lengths);
      if (BlockDescriptor.crc(crc, copy, used, incarnation, address) == stored) {
        return;
      }
    }
    throw new StoreDamagedException("not as it was written: block=" + address);
  }

  /**
   * Same, for a block with this lower half of a version.
   *
   * @throws StoreDamagedException if its content is not what an owner wrote there, or has another
   *     version
   */
  void load(long slot, int version) {
    load(slot);
    if ((int) version() != version) {
      throw new StoreDamagedException("an older one than was written: version=" + version());
    }
  }

  /** Whether the last loaded block has this key. */
  boolean hasKey(byte[] key, int keyLength) {
    final int offset = BlockDescriptor.keyOffset(lengths);
    return BlockDescriptor.keyLength(lengths) == keyLength
        && Arrays.equals(copy, offset, offset + keyLength, key, 0, keyLength);
  }

  /** Compares a key with that of the last loaded block; negative if it is less. */
  int compareWithKey(byte[] key, int keyLength) {
    final int offset = BlockDescriptor.keyOffset(lengths);
    return Arrays.compareUnsigned(
        key, 0, keyLength, copy, offset, offset + BlockDescriptor.keyLength(lengths));
  }

  /** Key of the block that was loaded last. */
  byte[] key() {
    final int offset = BlockDescriptor.keyOffset(lengths);
    return Arrays.copyOfRange(copy, offset, offset + BlockDescriptor.keyLength(lengths));
  }

  /** Version of the block that was loaded last. */
  long version() {
    return BlockDescriptor.version(copy);
  }

  /** Deadline of the block that was loaded last; 0 if it has none. */
  long deadline() {
    return BlockDescriptor.deadline(copy, lengths);
  }

  /**
   * Key of the block with this version, without a check of its checksum, as the memory may have
   * other content by now. Null if the version differs.
   */
  ByteString key(long slot, long version) {
    final long address = GroupDescriptor.address(slot);
    final int blockLength = SizeClasses.length(GroupDescriptor.sizeClass(slot));
    final int length = Math.min(blockLength, MAX_HEADER + BlockDescriptor.MAX_KEY_LENGTH);
    ensure(length);
    memory
        .region(address)
        .getBytes(memory.offset(address), copy, BlockDescriptor.COPY_OFFSET, length);
    lengths = BlockDescriptor.lengths(copy, blockLength);
    return lengths >= 0
            && BlockDescriptor.keyLength(lengths) <= BlockDescriptor.MAX_KEY_LENGTH
            && version() == version
        ? ByteString.copyFrom(
            copy, BlockDescriptor.keyOffset(lengths), BlockDescriptor.keyLength(lengths))
        : null;
  }

  /** Makes a valid block invalid: late readers find no entry there. */
  void invalidate(long slot) {
    final long address = GroupDescriptor.address(slot);
    final MemoryRegion region = memory.region(address);
    final int place = memory.offset(address) + BlockDescriptor.CRC_OFFSET;
    region.putIntRelease(place, ~region.getInt(place));
  }

  /**
   * The box at the begin of the value of the block that was loaded or written last, rounded
   * outward.
   */
  void getBox(float[] box) {
    final int value = BlockDescriptor.keyOffset(lengths) + BlockDescriptor.keyLength(lengths);
    for (int i = 0; i < 4; i++) {
      final double bound = BoxDescriptor.bound(copy, value, i);
      box[i] = i < 2 ? BoxDescriptor.down(bound) : BoxDescriptor.up(bound);
    }
  }

  /** The bytes of the box at the begin of the value of the block that was loaded last. */
  ByteString exactBox() {
    return ByteString.copyFrom(
        copy,
        BlockDescriptor.keyOffset(lengths) + BlockDescriptor.keyLength(lengths),
        BoxDescriptor.LENGTH);
  }

  /** Value of the block that was loaded last. */
  ByteString value() {
    return ByteString.copyFrom(
        copy,
        BlockDescriptor.keyOffset(lengths) + BlockDescriptor.keyLength(lengths),
        BlockDescriptor.valueLength(lengths));
  }

  /** Hash of the key of the block that was loaded last. */
  long hash() {
    return KeyHash.of(
        copy, BlockDescriptor.keyOffset(lengths), BlockDescriptor.keyLength(lengths), seed);
  }

  private void ensure(int blockLength) {
    final int length = BlockDescriptor.COPY_OFFSET + blockLength;
    if (copy.length < length) {
      copy = new byte[Math.max(length, 2 * copy.length)];
    }
  }
}

package dev.ringfetch.index.layout;

import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A private copy of a block that a node refers to, see {@link NodeDescriptor}. Used by one thread
 * at a time.
 */
final class BlockCopy {
  private final PieceReads reads;
  private final long entries;
  private final long separators;
  private final CRC32C crc = new CRC32C();
  private final Found own = new Found();
  private Found target = own;
  private byte[] bytes = own.array();
  private long lengths;
  private boolean valid;

  BlockCopy(PieceReads reads, long incarnation) {
    this.reads = reads;
    entries = incarnation;
    separators = NodeDescriptor.separators(incarnation);
  }

  /** Directs copies to the array of a {@code Found} from now on, which then has the value. */
  void into(Found found) {
    target = found;
  }

  /** Directs copies to an array of this object from now on. */
  void intoOwn() {
    target = own;
  }

  /**
   * Copies the block of a reference.
   *
   * @param isEntry true for an entry's block, false for a separator's
   * @return whether the block is valid and the referenced one; if not, {@link #isValid} tells
   *     whether it is at least valid
   */
  boolean load(byte[] node, int reference, boolean isEntry) {
    valid = false;
    final int length = length(node, reference);
    final long address = GroupDescriptor.address(NodeDescriptor.slot(node, reference));
    return length != 0
        && reads.read(address, length)
        && take(node, reference, isEntry, reads.last());
  }

  /** Length of the memory of a reference's block; 0 if its size class does not exist. */
  static int length(byte[] node, int reference) {
    return SizeClasses.length(GroupDescriptor.sizeClass(NodeDescriptor.slot(node, reference)));
  }

  /** Plans to read the block of a reference; returns the number of the piece. */
  int plan(byte[] node, int reference) {
    return reads.add(
        GroupDescriptor.address(NodeDescriptor.slot(node, reference)), length(node, reference));
  }

  /** Like {@link #load}, for a block that was read as a piece of a batch. */
  boolean take(byte[] node, int reference, boolean isEntry, int piece) {
    return take(
        NodeDescriptor.slot(node, reference),
        NodeDescriptor.version(node, reference),
        isEntry,
        piece);
  }

  /**
   * Same, for the entry of a slot.
   *
   * @param version the lower half of that of the referenced block
   */
  boolean take(long slot, int version, int piece) {
    return take(slot, version, true, piece);
  }

  private boolean take(long slot, int version, boolean isEntry, int piece) {
    valid = false;
    final int length = SizeClasses.length(GroupDescriptor.sizeClass(slot));
    final long address = GroupDescriptor.address(slot);
    bytes = target.ensure(BlockDescriptor.COPY_OFFSET + length);
    reads.region(piece).getBytes(reads.offset(piece), bytes, BlockDescriptor.COPY_OFFSET, length);
    lengths = BlockDescriptor.lengths(bytes, length);
    if (lengths < 0 || keyLength() > BlockDescriptor.MAX_KEY_LENGTH) {
      return false;
    }
    final int stored = BlockDescriptor.getCrc(bytes);
    final int used = BlockDescriptor.usedLength(lengths);
    valid =
        BlockDescriptor.crc(crc, bytes, used, isEntry ? entries : separators, address) == stored;
    return valid && (int) version() == version;
  }

  /** Whether the last copied block has a valid checksum. */
  boolean isValid() {
    return valid;
  }

  byte[] bytes() {
    return bytes;
  }

  int keyOffset() {
    return BlockDescriptor.keyOffset(lengths);
  }

  int keyLength() {
    return BlockDescriptor.keyLength(lengths);
  }

  int valueOffset() {
    return keyOffset() + keyLength();
  }

  int valueLength() {
    return BlockDescriptor.valueLength(lengths);
  }

  long version() {
    return BlockDescriptor.version(bytes);
  }

  /** Deadline of the entry, in milliseconds since 1970; 0 if it has none. */
  long deadline() {
    return BlockDescriptor.deadline(bytes, lengths);
  }

  /** Compares a key with that of the block; negative if it is less. */
  int compare(byte[] key, int offset, int length) {
    return Arrays.compareUnsigned(
        key, offset, offset + length, bytes, keyOffset(), keyOffset() + keyLength());
  }

  void verify() {
    reads.verify();
  }

  void absorb(InternalError fault) {
    reads.absorb(fault);
  }
}

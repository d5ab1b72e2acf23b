package dev.ringfetch.index.layout;

import static dev.ringfetch.index.layout.GroupDescriptor.COMBINED_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.SPILL_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.WORDS;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The search for one key: a state machine that plans the reads of a batch and then evaluates them,
 * until it has a result. Each batch loads the gate first, see {@link HashReader}.
 *
 * <p><b>Found</b>: the private copy of a block has this key and a good checksum. Its slot was
 * stored before its checksum, and a replacement was stored after the load of the slot. So the value
 * was current at the load of the slot, or became current later within the read.
 *
 * <p><b>Absent</b>: no slot of the key's two combined buckets and their spills is the key's. A key
 * stays in its slot from put to delete, unless a split moves it; equal headers before and after the
 * loads of the slots show that there was no split. A slot with the key's fingerprint, but with a
 * block of another key, is loaded again in the last batch: first the slot, then the block. If both
 * are unchanged, the block belonged to the other key both times, and so at the load of the slot.
 *
 * <p><b>Absent by deadline</b>: the clock was loaded before the search that found the block, and
 * had reached its deadline: so the entry was absent during the whole search. A clock that was
 * loaded later does not prove this, as another entry may have replaced this one before; but if it
 * has not reached the deadline, the entry was present at the load of the slot.
 *
 * <p>Reusable. Takes bounded time for any content of memory.
 */
final class Lookup {
  private enum State {
    LOCATE,
    BUCKETS,
    SPILL,
    BLOCKS,
    CLOCK,
    CONFIRM,
    DONE
  }

  /** Limit of rounds, which concurrent splits and puts may cause. */
  private static final int MAX_ROUNDS = 64;

  /**
   * Limit of the spills of one side that are searched: twice as many as the owner allows. Beyond
   * it, the caller asks the owner.
   */
  private static final int MAX_SPILLS = 32;

  /**
   * Limit of the slots with the key's fingerprint that are checked; a key rarely has more than one.
   */
  private static final int MAX_CANDIDATES = 64;

  /** Limit of the bytes of other keys' or damaged blocks whose checksums are verified. */
  private static final int MAX_BYTES = 4 * SizeClasses.MAX_LENGTH;

  /**
   * Blocks up to this length are copied at once, longer ones after their checksums are verified.
   */
  private static final int PIECE_LENGTH = 4096;

  /** The checksum and most of the version, which no other block has together. */
  private static final int PROOF_LENGTH = Long.BYTES;

  /**
   * The proof of a block without a valid checksum. A valid block that has it by chance is
   * undecided.
   */
  private static final long NO_PROOF = 0;

  private final CRC32C crc = new CRC32C();
  private final TableView[] tables = new TableView[2];
  private final int[] halves = new int[2];
  private final int[] groups = new int[2];
  private final long[] missing = new long[2];
  private final long[] headers = new long[2];
  private final long[] links = new long[2];

  private final long[] slotAddresses = new long[MAX_CANDIDATES];
  private final long[] slots = new long[MAX_CANDIDATES];
  private final long[] proofs = new long[MAX_CANDIDATES];

  /**
   * A piece of a long block, at the offset of {@link BlockDescriptor}'s copies; null before the
   * first one.
   */
  private byte[] piece;

  private final long incarnation;
  private byte[] key;
  private int keyOffset;
  private int keyLength;
  private int fingerprint;
  private Found found;

  private State state = State.DONE;
  private ReadResult result;
  private int firstRead;
  private int candidates;
  private boolean tooMany;
  private int rounds;
  private int spills;
  private int bytes;
  private long clockAddress;

  /** Time of the clock before the present search; 0 if unknown. */
  private long clock;

  /** Creates a lookup in an index of that incarnation. */
  Lookup(long incarnation) {
    this.incarnation = incarnation;
  }

  /** Sets the key of the next search. */
  void key(byte[] bytes, int offset, int length, long hash) {
    key = bytes;
    keyOffset = offset;
    keyLength = length;
    fingerprint = KeyHash.fingerprint(hash);
    halves[0] = KeyHash.half(hash, 0);
    halves[1] = KeyHash.half(hash, 1);
  }

  /**
   * Begins the search in the tables of the key's partition.
   *
   * @param clockAddress of the partition's clock
   */
  void start(TableView table0, TableView table1, long clockAddress, Found found) {
    this.found = found;
    this.clockAddress = clockAddress;
    clock = 0;
    tables[0] = table0;
    tables[1] = table1;
    rounds = 0;
    bytes = 0;
    result = null;
    locate();
  }

  boolean isDone() {
    return state == State.DONE;
  }

  ReadResult result() {
    return result;
  }

  /** Ends the search with a given result. */
  void end(ReadResult result) {
    this.result = result;
    state = State.DONE;
  }

  private void locate() {
    state = State.BUCKETS;
    for (int t = 0; t < 2; t++) {
      groups[t] = tables[t].group(halves[t]);
      if (tables[t].missing(groups[t]) != 0) {
        state = State.LOCATE;
      }
    }
  }

  /** Begins again after inconsistent memory, while rounds are left. */
  private void again() {
    if (++rounds > MAX_ROUNDS) {
      end(ReadResult.UNDECIDED);
      return;
    }
    Thread.onSpinWait();
    locate();
  }

  /** Plans the reads of the next batch. */
  void plan(Reads reads) {
    firstRead = -1;
    switch (state) {
      case LOCATE -> {
        for (int t = 0; t < 2; t++) {
          missing[t] = tables[t].missing(groups[t]);
          if (missing[t] != 0) {
            planned(reads.add(missing[t], Long.BYTES));
          }
        }
      }
      case BUCKETS -> {
        for (int t = 0; t < 2; t++) {
          planned(reads.add(bucket(t), COMBINED_LENGTH));
        }
      }
      case SPILL -> {
        for (int t = 0; t < 2; t++) {
          if (links[t] != 0) {
            planned(reads.add(links[t], SPILL_LENGTH));
          }
        }
      }
      case BLOCKS -> {
        for (int i = 0; i < candidates; i++) {
          planned(
              reads.add(
                  GroupDescriptor.address(slots[i]),
                  SizeClasses.length(GroupDescriptor.sizeClass(slots[i]))));
        }
      }
      case CLOCK -> planned(reads.add(clockAddress, Long.BYTES));
      case CONFIRM -> {
        for (int i = 0; i < candidates; i++) {
          planned(reads.add(slotAddresses[i], Long.BYTES));
          planned(reads.add(GroupDescriptor.address(slots[i]), PROOF_LENGTH));
        }
        for (int t = 0; t < 2; t++) {
          planned(reads.add(header(t), Long.BYTES));
        }
      }
      case DONE -> throw new IllegalStateException("state=" + state);
    }
  }

  private void planned(int read) {
    if (firstRead < 0) {
      firstRead = read;
    }
  }

  private long bucket(int table) {
    return tables[table].address(groups[table])
        + GroupDescriptor.combinedOffset(KeyHash.side(halves[table]));
  }

  private long header(int table) {
    return tables[table].address(groups[table]) + GroupDescriptor.HEADER_OFFSET;
  }

  /** Evaluates the results of the batch and enters the next state. */
  void take(Reads reads) {
    switch (state) {
      case LOCATE -> takeWords(reads);
      case BUCKETS -> takeBuckets(reads);
      case SPILL -> takeSpills(reads);
      case BLOCKS -> takeBlocks(reads);
      case CLOCK -> takeClock(reads);
      case CONFIRM -> takeProofs(reads);
      case DONE -> throw new IllegalStateException("state=" + state);
    }
  }

  private void takeWords(Reads reads) {
    int read = firstRead;
    boolean sense = true;
    for (int t = 0; t < 2; t++) {
      if (missing[t] != 0) {
        final long word = reads.region(read).getLongAcquire(reads.offset(read));
        sense &= tables[t].learn(groups[t], missing[t], word);
        read++;
      }
    }
    if (sense) {
      locate();
    } else {
      again();
    }
  }

  private void takeBuckets(Reads reads) {
    candidates = 0;
    tooMany = false;
    spills = 0;
    boolean fits = true;
    // Load a word of each of the four lines first, so that their cache misses overlap.
    for (int t = 0; t < 2; t++) {
      final MemoryRegion region = reads.region(firstRead + t);
      final int offset = reads.offset(firstRead + t);
      final int side = KeyHash.side(halves[t]);
      headers[t] = region.getLongAcquire(offset + GroupDescriptor.headerWord(side) * Long.BYTES);
      links[t] = region.getLongAcquire(offset + GroupDescriptor.linkWord(side) * Long.BYTES);
    }
    for (int t = 0; t < 2; t++) {
      fits &= fits(t, headers[t]);
      final int side = KeyHash.side(halves[t]);
      scan(
          reads.region(firstRead + t),
          reads.offset(firstRead + t),
          bucket(t),
          GroupDescriptor.linkWord(side),
          GroupDescriptor.headerWord(side));
    }
    if (!fits) {
      again();
      return;
    }
    scanned(reads);
  }

  /** Whether the group has the half; if not, notes the newer groups. */
  private boolean fits(int table, long header) {
    if (!GroupDescriptor.isLive(header, groups[table])) {
      tables[table].forgetGroups();
      return false;
    }
    final int half = halves[table];
    final int moved = GroupDescriptor.group(header, half) ^ groups[table];
    if (moved == 0) {
      return true;
    }
    // The half has left the group in a split, so all splits before that one are done, too. The
    // header does not tell where later splits moved it.
    tables[table].learnGroup(half & (2 * Integer.lowestOneBit(moved) - 1));
    return false;
  }

  /** Notes the slots with the fingerprint. */
  private void scan(MemoryRegion region, int offset, long address, int linkWord, int headerWord) {
    for (int word = 0; word < WORDS; word++) {
      if (word == linkWord || word == headerWord) {
        continue;
      }
      final long slot = region.getLong(offset + word * Long.BYTES);
      if (slot != 0
          && GroupDescriptor.fingerprint(slot) == fingerprint
          && SizeClasses.length(GroupDescriptor.sizeClass(slot)) != 0) {
        if (candidates == MAX_CANDIDATES) {
          tooMany = true;
          break;
        }
        slots[candidates] = slot;
        slotAddresses[candidates++] = address + (long) word * Long.BYTES;
      }
    }
  }

  private void takeSpills(Reads reads) {
    int read = firstRead;
    for (int t = 0; t < 2; t++) {
      if (links[t] != 0) {
        final MemoryRegion region = reads.region(read);
        final int offset = reads.offset(read);
        scan(region, offset, links[t], 0, 0);
        links[t] = region.getLong(offset);
        read++;
      }
    }
    if (++spills > MAX_SPILLS || tooMany) {
      end(ReadResult.LIMIT);
      return;
    }
    scanned(reads);
  }

  private void scanned(Reads reads) {
    VarHandle.acquireFence();
    final long both = links[0] | links[1];
    if (both < 0 || (both & 7) != 0) {
      again();
    } else if (both != 0) {
      state = State.SPILL;
    } else if (candidates > 0) {
      state = State.BLOCKS;
    } else {
      missed(reads);
    }
  }

  private void missed(Reads reads) {
    if (reads.ordered()) {
      state = State.CONFIRM;
    } else {
      end(ReadResult.UNDECIDED);
    }
  }

  private void takeBlocks(Reads reads) {
    boolean others = true;
    boolean postponed = false;
    for (int i = 0; i < candidates; i++) {
      final int length = SizeClasses.length(GroupDescriptor.sizeClass(slots[i]));
      final MemoryRegion region = reads.region(firstRead + i);
      final int offset = reads.offset(firstRead + i);
      if (length > PIECE_LENGTH) {
        final long lengths = peek(region, offset, length);
        if (lengths < 0) {
          others = false;
        } else if (!hasKey(piece, lengths)) {
          postponed = true; // a costly proof that is rarely needed
          continue;
        } else if (takeLong(region, offset, slots[i], lengths)) {
          return;
        } else {
          others = false;
        }
      } else if (takeShort(region, offset, length, i)) {
        return;
      } else {
        others &= proofs[i] != NO_PROOF;
      }
      bytes += length;
    }
    if (postponed && others) {
      others = takeOthers(reads);
    }
    VarHandle.acquireFence();
    if (bytes > MAX_BYTES) {
      end(ReadResult.LIMIT);
    } else if (others) {
      missed(reads);
    } else {
      again();
    }
  }

  /** Copies a short block; ends the search if it is the key's, else notes its proof. */
  private boolean takeShort(MemoryRegion region, int offset, int length, int candidate) {
    final byte[] copy = found.ensure(BlockDescriptor.COPY_OFFSET + length);
    region.getBytes(offset, copy, BlockDescriptor.COPY_OFFSET, length);
    proofs[candidate] = NO_PROOF;
    final long lengths = BlockDescriptor.lengths(copy, length);
    if (lengths < 0) {
      return false;
    }
    final int stored = BlockDescriptor.getCrc(copy);
    final int used = BlockDescriptor.usedLength(lengths);
    if (BlockDescriptor.crc(crc, copy, used, incarnation, GroupDescriptor.address(slots[candidate]))
        != stored) {
      return false;
    }
    if (hasKey(copy, lengths)) {
      take(copy, lengths);
      return true;
    }
    proofs[candidate] = proof(stored, copy);
    return false;
  }

  /** Copies the first piece of a block; returns its lengths, -1 if they do not fit its slot. */
  private long peek(MemoryRegion region, int offset, int length) {
    if (piece == null) {
      piece = new byte[BlockDescriptor.COPY_OFFSET + PIECE_LENGTH];
    }
    region.getBytes(offset, piece, BlockDescriptor.COPY_OFFSET, PIECE_LENGTH);
    final long lengths = BlockDescriptor.lengths(piece, length);
    return lengths >= 0
            && BlockDescriptor.keyLength(lengths) <= BlockDescriptor.MAX_KEY_LENGTH
            && SizeClasses.length(SizeClasses.of(BlockDescriptor.usedLength(lengths))) == length
        ? lengths
        : -1;
  }

  private boolean hasKey(byte[] copy, long lengths) {
    final int keyAt = BlockDescriptor.keyOffset(lengths);
    return Arrays.equals(
        copy,
        keyAt,
        keyAt + BlockDescriptor.keyLength(lengths),
        key,
        keyOffset,
        keyOffset + keyLength);
  }

  private void take(byte[] copy, long lengths) {
    final long deadline = BlockDescriptor.deadline(copy, lengths);
    found.found(
        BlockDescriptor.keyOffset(lengths) + keyLength,
        BlockDescriptor.valueLength(lengths),
        BlockDescriptor.version(copy),
        deadline);
    if (deadline == 0) {
      end(ReadResult.FOUND);
    } else if (deadline <= clock) {
      end(ReadResult.ABSENT);
    } else {
      state = State.CLOCK;
    }
  }

  /**
   * Decides about the entry by its deadline, or begins again with the present time of the clock.
   */
  private void takeClock(Reads reads) {
    final long word = reads.region(firstRead).getLongAcquire(reads.offset(firstRead));
    final long time = ClockDescriptor.time(word, incarnation);
    if (time < 0) { // the memory belongs to another index now: the next batch detects it
      again();
      return;
    }
    clock = time;
    if (found.deadline() > clock) {
      end(ReadResult.FOUND);
    } else {
      again();
    }
  }

  /**
   * Copies a long block of the key, and ends the search, if its checksum is valid. The array for it
   * grows only for a valid block.
   */
  private boolean takeLong(MemoryRegion region, int offset, long slot, long lengths) {
    final int used = BlockDescriptor.usedLength(lengths);
    final int needed = BlockDescriptor.COPY_OFFSET + used;
    final long address = GroupDescriptor.address(slot);
    if (found.array().length < needed && proof(region, offset, used, address) == NO_PROOF) {
      return false;
    }
    final byte[] copy = found.ensure(needed);
    region.getBytes(offset, copy, BlockDescriptor.COPY_OFFSET, used);
    final int stored = BlockDescriptor.getCrc(copy);
    if (BlockDescriptor.lengths(copy, used) != lengths
        || BlockDescriptor.crc(crc, copy, used, incarnation, address) != stored
        || !hasKey(copy, lengths)) {
      return false;
    }
    take(copy, lengths);
    return true;
  }

  /** Verifies the checksums of the long blocks of other keys; returns whether all are valid. */
  private boolean takeOthers(Reads reads) {
    for (int i = 0; i < candidates && bytes <= MAX_BYTES; i++) {
      final int length = SizeClasses.length(GroupDescriptor.sizeClass(slots[i]));
      if (length > PIECE_LENGTH) {
        final MemoryRegion region = reads.region(firstRead + i);
        final int offset = reads.offset(firstRead + i);
        bytes += length;
        final long lengths = peek(region, offset, length);
        proofs[i] =
            lengths < 0 || hasKey(piece, lengths)
                ? NO_PROOF
                : proof(
                    region,
                    offset,
                    BlockDescriptor.usedLength(lengths),
                    GroupDescriptor.address(slots[i]));
        if (proofs[i] == NO_PROOF) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * The proof of the block whose first piece was copied last; {@link #NO_PROOF} if its checksum is
   * invalid. Copies one piece at a time.
   */
  private long proof(MemoryRegion region, int offset, int used, long address) {
    final int stored = BlockDescriptor.getCrc(piece);
    final long proof = proof(stored, piece);
    int done = Math.min(used, PIECE_LENGTH);
    BlockDescriptor.crc(crc, piece, done, incarnation, address);
    while (done < used) {
      final int length = Math.min(used - done, PIECE_LENGTH);
      region.getBytes(offset + done, piece, 0, length);
      crc.update(piece, 0, length);
      done += length;
    }
    return (int) crc.getValue() == stored ? proof : NO_PROOF;
  }

  private static long proof(int stored, byte[] copy) {
    return ((long) stored << 32) | (BlockDescriptor.version(copy) & 0xFFFF_FFFFL);
  }

  private void takeProofs(Reads reads) {
    int read = firstRead;
    boolean same = true;
    for (int i = 0; i < candidates; i++) {
      same &= reads.region(read).getLongAcquire(reads.offset(read)) == slots[i];
      read++;
      final MemoryRegion block = reads.region(read);
      final int offset = reads.offset(read);
      final long stored = block.getInt(offset + BlockDescriptor.CRC_OFFSET);
      final long version = block.getInt(offset + BlockDescriptor.VERSION_OFFSET) & 0xFFFF_FFFFL;
      same &= ((stored << 32) | version) == proofs[i];
      read++;
    }
    VarHandle.acquireFence();
    for (int t = 0; t < 2; t++) {
      same &= reads.region(read).getLongAcquire(reads.offset(read)) == headers[t];
      read++;
    }
    if (same) {
      end(ReadResult.ABSENT);
    } else {
      again();
    }
  }
}

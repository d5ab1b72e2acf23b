package dev.ringfetch.index.layout;

import static dev.ringfetch.index.layout.GroupDescriptor.COMBINED_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.SPILL_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.WORDS;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The search for one key: a state machine that plans reads of a batch and then looks at their
 * results, until it has a result. Each batch looks at the gate first, see {@link HashReader}.
 *
 * <p><b>Found</b>: the private copy of a block has this key and a good checksum. Its slot was
 * stored before its checksum, and whatever replaced it was stored later than the slot was loaded:
 * so the value was current at the load of the slot or became so later, within the read.
 *
 * <p><b>Absent</b>: no slot of the key's two combined buckets and their spills is the key's. A key
 * stays in its slot from put to delete, unless a split moves it; splits are found out by the
 * headers, which are the same before and after the slots. A slot whose fingerprint is the key's,
 * but whose block has another key, is looked at once more in the last batch: first the slot, then
 * the block, both unchanged. The block was the other key's both times and so at the load of the
 * slot.
 *
 * <p>Reusable. Takes bounded time, whatever memory contains.
 */
final class Lookup {
  private enum State {
    LOCATE,
    BUCKETS,
    SPILL,
    BLOCKS,
    CONFIRM,
    DONE
  }

  /** Rounds that a split or a put in progress may cost. */
  private static final int MAX_ROUNDS = 64;

  /** More spills of one side than these are the caller's to ask for by RPC. */
  private static final int MAX_SPILLS = 64;

  /** Bytes of blocks that are copied at most; a key rarely needs more than one block. */
  private static final int MAX_BYTES = 16 * SizeClasses.MAX_LENGTH;

  /** The checksum and most of the version, which no other block has together. */
  private static final int PROOF_LENGTH = Long.BYTES;

  private final CRC32C crc = new CRC32C();
  private final TableView[] tables = new TableView[2];
  private final int[] halves = new int[2];
  private final int[] groups = new int[2];
  private final long[] missing = new long[2];
  private final long[] headers = new long[2];
  private final long[] links = new long[2];

  private long[] slotAddresses = new long[32];
  private long[] slots = new long[32];
  private long[] proofs = new long[32];

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
  private int rounds;
  private int spills;
  private int bytes;

  /** Creates a lookup in an index of that incarnation. */
  Lookup(long incarnation) {
    this.incarnation = incarnation;
  }

  /** Names the key that is searched for next. */
  void key(byte[] bytes, int offset, int length, long hash) {
    key = bytes;
    keyOffset = offset;
    keyLength = length;
    fingerprint = KeyHash.fingerprint(hash);
    halves[0] = KeyHash.half(hash, 0);
    halves[1] = KeyHash.half(hash, 1);
  }

  /** Begins to search in the tables of the key's partition. */
  void start(TableView table0, TableView table1, Found found) {
    this.found = found;
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

  /** Ends with a result that came from elsewhere. */
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

  /** Begins again after memory that does not fit together, as long as there are rounds left. */
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

  /** Looks at the results of the batch and goes to the next state. */
  void take(Reads reads) {
    switch (state) {
      case LOCATE -> takeWords(reads);
      case BUCKETS -> takeBuckets(reads);
      case SPILL -> takeSpills(reads);
      case BLOCKS -> takeBlocks(reads);
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
    spills = 0;
    boolean fits = true;
    for (int t = 0; t < 2; t++) {
      final MemoryRegion region = reads.region(firstRead + t);
      final int offset = reads.offset(firstRead + t);
      final int side = KeyHash.side(halves[t]);
      final int headerWord = GroupDescriptor.headerWord(side);
      final long header = region.getLongAcquire(offset + headerWord * Long.BYTES);
      fits &= fits(t, header);
      headers[t] = header;
      links[t] = scan(region, offset, bucket(t), GroupDescriptor.linkWord(side), headerWord);
    }
    if (!fits) {
      again();
      return;
    }
    scanned(reads);
  }

  /** Whether the group has the half; if not, learns of the newer groups. */
  private boolean fits(int table, long header) {
    if (!GroupDescriptor.isLive(header, groups[table])) {
      tables[table].forgetGroups();
      return false;
    }
    final int group = GroupDescriptor.group(header, halves[table]);
    if (group != groups[table]) {
      tables[table].learnGroup(group);
      return false;
    }
    return true;
  }

  /** Notes the slots with the fingerprint; returns the link. */
  private long scan(MemoryRegion region, int offset, long address, int linkWord, int skipWord) {
    for (int word = 0; word < WORDS; word++) {
      if (word == linkWord || word == skipWord) {
        continue;
      }
      final long slot = region.getLong(offset + word * Long.BYTES);
      if (slot != 0
          && GroupDescriptor.fingerprint(slot) == fingerprint
          && SizeClasses.length(GroupDescriptor.sizeClass(slot)) != 0) {
        if (candidates == slots.length) {
          slots = Arrays.copyOf(slots, 2 * candidates);
          slotAddresses = Arrays.copyOf(slotAddresses, 2 * candidates);
          proofs = Arrays.copyOf(proofs, 2 * candidates);
        }
        slots[candidates] = slot;
        slotAddresses[candidates++] = address + (long) word * Long.BYTES;
      }
    }
    return region.getLong(offset + linkWord * Long.BYTES);
  }

  private void takeSpills(Reads reads) {
    int read = firstRead;
    for (int t = 0; t < 2; t++) {
      if (links[t] != 0) {
        links[t] = scan(reads.region(read), reads.offset(read), links[t], 0, 0);
        read++;
      }
    }
    if (++spills > MAX_SPILLS) {
      end(ReadResult.UNDECIDED);
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
    for (int i = 0; i < candidates; i++) {
      final int length = SizeClasses.length(GroupDescriptor.sizeClass(slots[i]));
      bytes += length;
      if (bytes > MAX_BYTES) {
        end(ReadResult.UNDECIDED);
        return;
      }
      final byte[] copy = found.ensure(BlockDescriptor.COPY_OFFSET + length);
      reads
          .region(firstRead + i)
          .getBytes(reads.offset(firstRead + i), copy, BlockDescriptor.COPY_OFFSET, length);
      final long lengths = BlockDescriptor.lengths(copy, length);
      if (lengths < 0) {
        others = false;
        continue;
      }
      final int stored = BlockDescriptor.getCrc(copy);
      final int used = BlockDescriptor.usedLength(lengths);
      proofs[i] = ((long) stored << 32) | (BlockDescriptor.version(copy) & 0xFFFF_FFFFL);
      final int keyAt = BlockDescriptor.keyOffset(lengths);
      if (BlockDescriptor.crc(crc, copy, used, incarnation, GroupDescriptor.address(slots[i]))
          != stored) {
        others = false;
        continue;
      }
      if (Arrays.equals(
          copy,
          keyAt,
          keyAt + BlockDescriptor.keyLength(lengths),
          key,
          keyOffset,
          keyOffset + keyLength)) {
        found.found(
            keyAt + keyLength, BlockDescriptor.valueLength(lengths), BlockDescriptor.version(copy));
        end(ReadResult.FOUND);
        return;
      }
    }
    VarHandle.acquireFence();
    if (others) {
      missed(reads);
    } else {
      again();
    }
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

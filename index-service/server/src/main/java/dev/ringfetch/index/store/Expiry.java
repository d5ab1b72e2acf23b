package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.ClockDescriptor;
import java.util.function.ToLongFunction;

/**
 * The clock of a partition, which says to readers which entries are absent, and the deadlines of
 * the entries, which say to the owner which ones to remove.
 *
 * <p>Where deadlines that no entry has any more are more than the others, and {@value #SLACK}, each
 * change of an entry looks at a few. So an entry with a deadline costs about {@value
 * Deadlines#BYTES} bytes of the Java heap, and about twice that where entries are replaced long
 * before their deadlines.
 *
 * <p>Used by the partition's owner alone.
 */
public final class Expiry {
  /** What {@link #first} is if no entry has a deadline: later than every deadline. */
  public static final long NONE = Deadlines.NONE;

  /** Deadlines without an entry that are left alone, however few others there are. */
  static final int SLACK = 1024;

  /** Deadlines that one change of an entry looks at. */
  private static final int SWEPT = 4;

  private final MemoryRegion region;
  private final int offset;
  private final long incarnation;
  private final BlockStore blocks;
  private final ToLongFunction<ByteString> versions;
  private final Deadlines deadlines = new Deadlines();
  private long clock;

  /** Entries in the store that have a deadline. */
  private int entries;

  private int swept;

  /**
   * Creates the clock at 0, without deadlines.
   *
   * @param address of the clock that readers see
   * @param blocks for this alone
   * @param versions tells the version of a key's entry, 0 if it has none
   */
  Expiry(StoreMemory memory, long address, BlockStore blocks, ToLongFunction<ByteString> versions) {
    region = memory.region(address);
    offset = memory.offset(address);
    incarnation = blocks.incarnation();
    this.blocks = blocks;
    this.versions = versions;
    show();
  }

  /** The clock in milliseconds since 1970; 0 if it has never been set. */
  public long clock() {
    return clock;
  }

  /** Sets the clock forward, for readers at once; never back. */
  public void advance(long timeMs) {
    if (timeMs > clock) {
      clock = Math.min(timeMs, ClockDescriptor.MAX_TIME);
      show();
    }
  }

  private void show() {
    region.putLongRelease(offset, ClockDescriptor.word(clock, incarnation));
  }

  /** The earliest deadline, perhaps one that no entry has any more; {@link #NONE} if none. */
  public long first() {
    return deadlines.first();
  }

  /** Key of the entry with the earliest deadline; null if no entry has that any more. */
  public ByteString firstKey() {
    return key(0);
  }

  /** Forgets the earliest deadline. */
  public void removeFirst() {
    deadlines.remove(0);
  }

  private ByteString key(int number) {
    final long version = deadlines.version(number);
    final ByteString key = blocks.key(deadlines.place(number), version);
    return key != null && versions.applyAsLong(key) == version ? key : null;
  }

  /** Notes the deadline of an entry that was put. */
  void added(long deadline, long version, long place) {
    deadlines.add(deadline, version, place);
    entries++;
  }

  /** Notes that an entry with a deadline was replaced or removed. */
  void ended() {
    entries--;
  }

  /** Whether an entry has a deadline. */
  boolean isUsed() {
    return entries > 0;
  }

  /** Number of deadlines that are kept. */
  int kept() {
    return deadlines.size();
  }

  /** Looks at a few deadlines, if there are too many that no entry has any more. */
  void sweep() {
    for (int i = 0; i < SWEPT && deadlines.size() > 2L * entries + SLACK; i++) {
      swept = swept < deadlines.size() ? swept : 0;
      if (key(swept) == null) {
        deadlines.remove(swept); // another one moves there
      } else {
        swept++;
      }
    }
  }
}

package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.ClockDescriptor;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The expiry of a partition's entries: the clock, by which readers decide which entries are absent,
 * and the deadlines, by which the owner decides which ones to remove.
 *
 * <p>When obsolete deadlines, which no entry has any more, outnumber the others and {@value
 * #SLACK}, each change of an entry checks a few. So an entry with a deadline costs about {@value
 * Deadlines#BYTES} bytes of the Java heap, and about twice that if entries are replaced long before
 * their deadlines.
 *
 * <p>Used by the partition's owner alone.
 */
public final class Expiry {
  /** Value of {@link #first} if no entry has a deadline: later than every deadline. */
  public static final long NONE = Deadlines.NONE;

  /** Number of obsolete deadlines that are always tolerated. */
  static final int SLACK = 1024;

  /** Number of deadlines that one change of an entry checks. */
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
   * @param blocks for the exclusive use of this object
   * @param versions gives the version of a key's entry, 0 if it has none
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

  /** The earliest deadline, which may be obsolete; {@link #NONE} if there is none. */
  public long first() {
    return deadlines.first();
  }

  /** Key of the entry with the earliest deadline; null if the deadline is obsolete. */
  public @Nullable ByteString firstKey() {
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

  /** Number of deadlines. */
  int kept() {
    return deadlines.size();
  }

  /** Checks a few deadlines if too many are obsolete. */
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

package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;

/**
 * The index memory of a server: segments up to a budget, which the partitions of all indexes share,
 * and the words that open it to readers.
 *
 * <p>Safe for use by many threads.
 */
@SuppressWarnings({"DoNotCallSuggester", "UnusedVariable"})
public final class StoreMemory {
  /** Creates zeroed segments. */
  public interface SegmentSource {
    /** Returns a new, zeroed segment of that length in bytes. */
    MemoryRegion grow(int length) throws IOException;
  }

  /** What a store memory is made of. Each setter returns this. */
  public static final class Context {
    /** Length of a segment unless set: 64 MiB. */
    public static final int SEGMENT_LENGTH_DEFAULT = 64 << 20;

    /** Sets where segments come from. */
    public Context segmentSource(SegmentSource source) {
      return this;
    }

    /** Sets the length of a segment in bytes, a power of two from 64 KiB to 1 GiB. */
    public Context segmentLength(int bytes) {
      return this;
    }

    /** Sets the most bytes that all segments may have together, at least a segment. */
    public Context budget(long bytes) {
      return this;
    }

    /** Sets the memory with the gate word, which this class only gives to readers. */
    public Context gate(MemoryRegion region, int offset) {
      return this;
    }

    /** Sets the incarnation of the server, the gate's value while it serves; not 0. */
    public Context incarnation(long incarnation) {
      return this;
    }

    /** Sets what the seeds of indexes are drawn from. */
    public Context seed(long seed) {
      return this;
    }
  }

  /** Creates the memory with its first segment. */
  public StoreMemory(Context context) throws IOException {}

  /** Lets readers begin: stores the incarnation into the serving word. */
  public void serve() {
    throw new UnsupportedOperationException("body follows");
  }

  /** Number of segments. */
  public int segments() {
    throw new UnsupportedOperationException("body follows");
  }

  /** A segment, or null if there is none with this number. */
  public MemoryRegion segment(long number) {
    throw new UnsupportedOperationException("body follows");
  }

  /** Binary logarithm of a segment's length. */
  public int segmentShift() {
    throw new UnsupportedOperationException("body follows");
  }

  /** The most bytes that all segments may have together. */
  public long budget() {
    throw new UnsupportedOperationException("body follows");
  }

  /** Bytes that are in use: by blocks, also free ones that belong to a size class, and tables. */
  public long usedBytes() {
    throw new UnsupportedOperationException("body follows");
  }

  /** The longest key and value together, in bytes, that a block has room for. */
  public int maxEntryLength() {
    throw new UnsupportedOperationException("body follows");
  }
}

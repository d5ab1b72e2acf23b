package dev.ringfetch.index.kernel;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.KeyRange;
import java.util.function.Predicate;

/**
 * The reader of an index for one run of a {@link Kernel}. Each entry is as it was when its turn
 * came; the entries together may never have been so. An index that does not exist has no entries.
 *
 * <p>When the run has to end, each method throws, then and from then on; what the kernel answers
 * after that does not count. Used by the thread of the run alone.
 */
public interface KernelReader {
  /** Reads an entry; null if the key has none. */
  Entry get(ByteString key);

  /**
   * Reads the entries of a range of an ordered index, in the order of their keys, as a scan does.
   *
   * @param each takes an entry, may read others, and returns whether the next one is wanted
   */
  void scan(KeyRange range, Predicate<Entry> each);

  /**
   * Reads the entries of a spatial index whose boxes have a point in common with this one, as a
   * search does.
   *
   * @param each takes an entry, may read others, and returns whether the next one is wanted
   */
  void search(Box box, Predicate<Entry> each);
}

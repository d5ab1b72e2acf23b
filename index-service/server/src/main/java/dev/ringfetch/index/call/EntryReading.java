package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.partition.Partition;
import org.jspecify.annotations.Nullable;

/** The entries that a {@link SteppedCall} reads, and the place up to which they were read. */
interface EntryReading {
  /** The index that has them. */
  ServedIndex index();

  /** The condition on the entries; null if there is none. */
  @Nullable EntryFilter filter();

  /** Reads on: FOUND if the sink has enough for the moment, ABSENT if no entry is left. */
  ReadResult read(ServedIndex.LocalReader reader, EntrySink sink);

  /** Whether the last read came farther: it was not one of what had been read before, again. */
  boolean isAdvancing();

  /**
   * The key that the owner reads at the place where the reader could not decide.
   *
   * @param count how often the owner was asked without an entry in between, from 1
   */
  ByteString doubtfulKey(int count);

  /** The partition of that place, or one that may be it. */
  Partition doubtful(int count);
}

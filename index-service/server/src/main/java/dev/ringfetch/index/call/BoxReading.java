package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.partition.Partition;
import org.jspecify.annotations.Nullable;

/** The entries of a spatial index, by their boxes, that are still to be read. */
record BoxReading(ServedIndex index, SpatialSearch search, @Nullable EntryFilter filter)
    implements EntryReading {
  /** How often the owner is asked before it compares its whole tree with what it has stored. */
  private static final int CHECKED = 50;

  /** A key that the owner reads in between; it need not be there. */
  private static final ByteString ANY = ByteString.copyFromUtf8("any");

  BoxReading(ServedIndex index, SpatialQuery query, @Nullable EntryFilter filter) {
    this(index, new SpatialSearch(query), filter);
  }

  @Override
  public ReadResult read(ServedIndex.LocalReader reader, EntrySink sink) {
    return reader.search(search, sink);
  }

  @Override
  public boolean isAdvancing() {
    return search.isAdvancing();
  }

  @Override
  public ByteString doubtfulKey(int count) {
    return count >= CHECKED && count < CHECKED + search.doubts(index.partitions())
        ? ByteString.EMPTY
        : ANY;
  }

  @Override
  public Partition doubtful(int count) {
    return index.partition(search.doubtful(count, index.partitions()));
  }
}

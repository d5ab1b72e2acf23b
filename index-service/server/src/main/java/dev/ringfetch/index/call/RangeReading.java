package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.partition.Partition;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The entries of a range of an ordered index that are still to be read. */
record RangeReading(ServedIndex index, ScanCursor cursor, @Nullable EntryFilter filter)
    implements EntryReading {
  private static final ByteString LAST_KEY = lastKey();

  private static ByteString lastKey() {
    final byte[] key = new byte[BlockDescriptor.MAX_KEY_LENGTH];
    Arrays.fill(key, (byte) 0xFF);
    return ByteString.copyFrom(key);
  }

  @Override
  public ReadResult read(ServedIndex.LocalReader reader, EntrySink sink) {
    final ReadResult result = reader.scan(cursor, sink);
    return result == ReadResult.FOUND && cursor.isDone() ? ReadResult.ABSENT : result;
  }

  @Override
  public boolean isAdvancing() {
    return true;
  }

  @Override
  public ByteString doubtfulKey(int count) {
    final ByteString place = cursor.place();
    return place.isEmpty() && cursor.isReverse() ? LAST_KEY : place;
  }

  @Override
  public Partition doubtful(int count) {
    return index.partition(doubtfulKey(count));
  }
}

package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.partition.Partition;
import java.util.Arrays;

/**
 * A call that reads a range of an ordered index, in steps.
 *
 * @param <T> type of the response.
 */
abstract class RangeCall<T> extends SteppedCall<T> {
  private static final ByteString LAST_KEY = lastKey();

  final ScanCursor cursor;

  /** Creates a call, which {@link #start} begins. */
  RangeCall(RangeCalls.Range range, CallSignals<T> signals, RangeCalls calls) {
    super(range.index(), signals, calls);
    cursor = range.cursor();
  }

  private static ByteString lastKey() {
    final byte[] key = new byte[BlockDescriptor.MAX_KEY_LENGTH];
    Arrays.fill(key, (byte) 0xFF);
    return ByteString.copyFrom(key);
  }

  @Override
  final ReadResult read(ServedIndex.LocalReader reader) {
    final ReadResult result = reader.scan(cursor, this);
    return result == ReadResult.FOUND && cursor.isDone() ? ReadResult.ABSENT : result;
  }

  @Override
  final Partition doubtful() {
    return index.partition(doubtfulKey(1));
  }

  @Override
  final ByteString doubtfulKey(int count) {
    final ByteString place = cursor.place();
    return place.isEmpty() && cursor.isReverse() ? LAST_KEY : place;
  }
}

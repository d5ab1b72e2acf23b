package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.filter.FieldSum;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.KeyBounds;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.Filter;
import dev.ringfetch.index.v1.KeyRange;
import io.grpc.Status;
import io.grpc.StatusException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Limits of the parts of a request. The checks throw INVALID_ARGUMENT. */
public final class RequestLimits {
  /** Longest index name, in bytes of its UTF-8 form. */
  static final int MAX_INDEX_NAME_BYTES = 255;

  /** Longest key. */
  static final int MAX_KEY_BYTES = BlockDescriptor.MAX_KEY_LENGTH;

  /** Longest value. */
  static final int MAX_VALUE_BYTES = BlockDescriptor.MAX_VALUE_LENGTH;

  /** The most keys in one batch. */
  static final int MAX_BATCH_KEYS = 10_000;

  /** Longest time that the deadline of an entry may be ahead, in milliseconds: 3650 days. */
  static final long MAX_TTL_MS = 3650L * 24 * 60 * 60 * 1000;

  private RequestLimits() {}

  public static void checkIndexName(String name) throws StatusException {
    final int size = name.getBytes(StandardCharsets.UTF_8).length;
    if (size > MAX_INDEX_NAME_BYTES) {
      throw tooLong("index name", size, MAX_INDEX_NAME_BYTES);
    }
  }

  public static void checkKey(ByteString key) throws StatusException {
    if (key.isEmpty()) {
      throw invalid("key is empty");
    }
    if (key.size() > MAX_KEY_BYTES) {
      throw tooLong("key", key.size(), MAX_KEY_BYTES);
    }
  }

  /** Checks the bounds of a range, each of which may be empty. */
  static void checkRange(KeyRange range) throws StatusException {
    checkBound("start", range.getStart(), KeyBounds.MAX_LENGTH);
    checkBound("end", range.getEnd(), KeyBounds.MAX_LENGTH);
    checkBound("prefix", range.getPrefix(), MAX_KEY_BYTES);
  }

  private static void checkBound(String name, ByteString bound, int limit) throws StatusException {
    if (bound.size() > limit) {
      throw tooLong(name, bound.size(), limit);
    }
  }

  public static void checkValue(ByteString value) throws StatusException {
    if (value.size() > MAX_VALUE_BYTES) {
      throw tooLong("value", value.size(), MAX_VALUE_BYTES);
    }
  }

  /** Checks the argument of a kernel. */
  static void checkArgument(ByteString argument) throws StatusException {
    if (argument.size() > MAX_VALUE_BYTES) {
      throw tooLong("argument", argument.size(), MAX_VALUE_BYTES);
    }
  }

  /** Checks a time to live, which is an unsigned number. */
  public static void checkTtl(long millis) throws StatusException {
    if (Long.compareUnsigned(millis, MAX_TTL_MS) > 0) {
      throw invalid(
          "ttl is too long: ttl_ms="
              + Long.toUnsignedString(millis)
              + " limit="
              + MAX_TTL_MS
              + " ms, 3650 days");
    }
  }

  /** Checks a deadline in milliseconds since 1970, an unsigned number; 0 is none. */
  public static void checkDeadline(long deadlineMs) throws StatusException {
    final long limit = System.currentTimeMillis() + MAX_TTL_MS;
    if (Long.compareUnsigned(deadlineMs, limit) > 0) {
      throw invalid(
          "deadline is too far ahead: deadline_ms="
              + Long.toUnsignedString(deadlineMs)
              + " limit="
              + limit
              + ", in 3650 days");
    }
  }

  public static void checkBatch(int keys) throws StatusException {
    if (keys > MAX_BATCH_KEYS) {
      throw invalid("too many keys: count=" + keys + " limit=" + MAX_BATCH_KEYS);
    }
  }

  /** Checks the records of an append. */
  public static void checkRecords(List<ByteString> records) throws StatusException {
    if (records.isEmpty()) {
      throw invalid("there are no records to append");
    }
    if (records.size() > MAX_BATCH_KEYS) {
      throw invalid("too many records: count=" + records.size() + " limit=" + MAX_BATCH_KEYS);
    }
    for (final ByteString record : records) {
      if (record.size() > AppendDescriptor.MAX_RECORD_LENGTH) {
        throw tooLong("record", record.size(), AppendDescriptor.MAX_RECORD_LENGTH);
      }
    }
  }

  /** Checks the filter of a request that has one; null if it has none. */
  static @Nullable EntryFilter checkFilter(boolean isSet, Filter filter) throws StatusException {
    try {
      return isSet ? new EntryFilter(filter) : null;
    } catch (IllegalArgumentException e) {
      throw invalid(e.getMessage());
    }
  }

  /** Checks the summary that a request may ask for; null if it does not. */
  static @Nullable FieldSum checkSummary(boolean isSet, Field field) throws StatusException {
    try {
      return isSet ? new FieldSum(field) : null;
    } catch (IllegalArgumentException e) {
      throw invalid(e.getMessage());
    }
  }

  /** The status of a write to a spatial index whose value begins with no legal box. */
  static Status notABox(String index) {
    return Status.INVALID_ARGUMENT.withDescription(
        "a value of this index begins with a box: min x, min y, max x, max y as 64-bit floats, "
            + "little-endian; min <= max, and no coordinate beyond "
            + BoxDescriptor.LIMIT
            + ": index="
            + index);
  }

  private static StatusException tooLong(String what, int size, int limit) {
    return invalid(what + " is too long: size=" + size + " limit=" + limit + " bytes");
  }

  static StatusException invalid(String description) {
    return Status.INVALID_ARGUMENT.withDescription(description).asException();
  }
}

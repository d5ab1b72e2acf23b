package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.OutcomeKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Layout of an outcome in a record, besides client, number and LSN. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Detail                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Kind                              |
 *  +---------------------------------------------------------------+
 *  |                            Answer                            ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Detail</b>: as the kind says.
 *   <li><b>Kind</b>: number of an {@link OutcomeKind}.
 *   <li><b>Answer</b>: what is kept of the write's answer; the rest of the value.
 * </ul>
 */
public final class OutcomeDescriptor {
  /** Offset of the detail, 64 bits. */
  public static final int DETAIL_OFFSET = 0;

  /** Offset of the kind, 32 bits. */
  public static final int KIND_OFFSET = DETAIL_OFFSET + Long.BYTES;

  /** Offset of the answer. */
  public static final int ANSWER_OFFSET = KIND_OFFSET + Integer.BYTES;

  private OutcomeDescriptor() {}

  /** The value of a record. */
  public static ByteString encode(OutcomeKind kind, long detail, ByteString answer) {
    final ByteBuffer buffer = ByteBuffer.allocate(ANSWER_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(DETAIL_OFFSET, detail).putInt(KIND_OFFSET, kind.number());
    return ByteString.copyFrom(buffer).concat(answer);
  }

  /** The kind in the value of a record; null if it is malformed. */
  public static @Nullable OutcomeKind kind(ByteString value) {
    return value.size() < ANSWER_OFFSET ? null : OutcomeKind.of(buffer(value).getInt(KIND_OFFSET));
  }

  /** The detail in a well-formed value of a record. */
  public static long detail(ByteString value) {
    return buffer(value).getLong(DETAIL_OFFSET);
  }

  /** The answer in a well-formed value of a record; empty if there is none. */
  public static ByteString answer(ByteString value) {
    return value.substring(ANSWER_OFFSET);
  }

  private static ByteBuffer buffer(ByteString value) {
    return value.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }
}

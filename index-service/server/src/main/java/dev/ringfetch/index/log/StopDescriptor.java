package dev.ringfetch.index.log;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Member;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Layout of what a process has left of a group in memory, as it ended in order: records one after
 * the other, each aligned, and at last one of type GROUP_STOP. Little-endian.
 *
 * <pre>
 *  records     BEGIN, entries, EPOCH with the position from which on the log follows, the log,
 *              COMMIT, STOP
 *
 *  the value of STOP
 *
 *    0                  8                  16
 *   +------------------+------------------+------------------+----
 *   | bytes before it  | node             | incarnation      | ...
 *   +------------------+------------------+------------------+----
 * </pre>
 *
 * <p>The last incarnation is that of the process. It may stand for earlier ones, which come before
 * it: those whose records it has gone on with, as long as no configuration was established since.
 */
public final class StopDescriptor {
  /** Bytes that stand before the record. */
  static final int LENGTH_OFFSET = 0;

  /** The node. */
  static final int NODE_OFFSET = LENGTH_OFFSET + Long.BYTES;

  /** The first incarnation; others follow. */
  static final int INCARNATIONS_OFFSET = NODE_OFFSET + Long.BYTES;

  private StopDescriptor() {}

  /**
   * The value.
   *
   * @param processes of one node
   */
  public static ByteString encoded(long length, List<Member> processes) {
    final ByteBuffer value =
        ByteBuffer.allocate(INCARNATIONS_OFFSET + processes.size() * Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    value.putLong(LENGTH_OFFSET, length).putLong(NODE_OFFSET, processes.get(0).getNode());
    for (int i = 0; i < processes.size(); i++) {
      value.putLong(INCARNATIONS_OFFSET + i * Long.BYTES, processes.get(i).getIncarnation());
    }
    return ByteString.copyFrom(value);
  }

  /**
   * The processes that a value has.
   *
   * @param length of what stands before the record
   * @param node whose they have to be
   * @return empty if it is no value of a node's record at this place
   */
  public static List<Member> processes(ByteString encoded, long length, long node) {
    final ByteBuffer value = encoded.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    final List<Member> processes = new ArrayList<>();
    if (value.remaining() > INCARNATIONS_OFFSET
        && value.remaining() % Long.BYTES == 0
        && value.getLong(LENGTH_OFFSET) == length
        && value.getLong(NODE_OFFSET) == node) {
      for (int at = INCARNATIONS_OFFSET; at < value.remaining(); at += Long.BYTES) {
        processes.add(Member.newBuilder().setNode(node).setIncarnation(value.getLong(at)).build());
      }
    }
    return processes;
  }
}

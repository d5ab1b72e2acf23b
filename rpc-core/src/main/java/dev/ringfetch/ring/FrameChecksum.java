package dev.ringfetch.ring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Checksum of the frames of one ring, for fabrics of which the two words of a frame do not prove
 * the rest: CRC32C over these bytes, little-endian.
 *
 * <pre>
 *   0        8        16       24       32    36
 *  +--------+--------+--------+--------+----+---------
 *  | epoch  |position| word 0 | word 1 |ack | payload ...
 *  +--------+--------+--------+--------+----+---------
 * </pre>
 *
 * <p>Word 0 to ack are the frame's header without the checksum itself. The payload of a frame with
 * {@link FrameDescriptor#PAD} means nothing and is left out. Epoch and position make the frame of
 * an earlier lap, or of another session, a wrong one.
 *
 * <p>One for each end of a ring: not safe for several threads. Allocates nothing.
 */
final class FrameChecksum {
  private static final int EPOCH_OFFSET = 0;
  private static final int POSITION_OFFSET = EPOCH_OFFSET + Long.BYTES;
  private static final int WORD0_OFFSET = POSITION_OFFSET + Long.BYTES;
  private static final int WORD1_OFFSET = WORD0_OFFSET + Long.BYTES;
  private static final int ACK_OFFSET = WORD1_OFFSET + Long.BYTES;
  private static final int HEAD_LENGTH = ACK_OFFSET + Integer.BYTES;

  private final CRC32C crc = new CRC32C();
  private final ByteBuffer head = ByteBuffer.allocate(HEAD_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

  /** Creates the checksum of the frames of a session with this epoch. */
  FrameChecksum(long epoch) {
    head.putLong(EPOCH_OFFSET, epoch);
  }

  /**
   * Checksum of a frame.
   *
   * @param word0 length and tag, see {@link FrameDescriptor#word0}.
   * @param word1 stream id, flags and code, see {@link FrameDescriptor#word1}.
   * @param payload of which {@code length} bytes from {@code offset} on count; null for none.
   */
  int of(long position, long word0, long word1, int ack, byte[] payload, int offset, int length) {
    head.putLong(POSITION_OFFSET, position);
    head.putLong(WORD0_OFFSET, word0);
    head.putLong(WORD1_OFFSET, word1);
    head.putInt(ACK_OFFSET, ack);
    crc.reset();
    crc.update(head.array(), 0, HEAD_LENGTH);
    if (payload != null) {
      crc.update(payload, offset, length);
    }
    return (int) crc.getValue();
  }
}

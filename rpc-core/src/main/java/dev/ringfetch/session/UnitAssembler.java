package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;

import dev.ringfetch.fabric.MemoryRegion;

/** Puts the unit that comes in together, from one frame or from a chain. */
final class UnitAssembler {
  private UnitAssembler() {}

  /**
   * Adds a frame to a stream's unit. Memory grows with what has arrived, not with what is
   * announced.
   *
   * @param maxLength longest unit that is kept; a longer one is taken in and dropped.
   * @param reads where a frame with BULK has put its read in line.
   * @return false when the frame does not fit to what came before: the peer broke the protocol.
   */
  static boolean accept(
      Stream stream,
      int flags,
      int code,
      MemoryRegion region,
      int offset,
      int length,
      int maxLength,
      Reads reads) {
    final boolean continues = (flags & CONTINUATION) != 0;
    final boolean partial = (flags & PARTIAL) != 0;
    final boolean bulk = (flags & BULK) != 0;
    if (continues != stream.inboundPartial
        || (!continues && (bulk || stream.inbound().isReading()))) {
      return false;
    }
    int start = offset;
    int bytes = bulk ? reads.lastLength() : length;
    if (!continues) {
      stream.inboundFlags = flags & ~PARTIAL;
      stream.inboundCode = code;
      if (partial) {
        if (length < Integer.BYTES) {
          return false;
        }
        stream.inboundTotal = region.getInt(offset);
        start += Integer.BYTES;
        bytes -= Integer.BYTES;
      } else {
        stream.inboundTotal = length;
      }
      stream.inboundReceived = 0;
      stream.inboundDiscarded = stream.inboundTotal > maxLength;
    }
    final int left = stream.inboundTotal - stream.inboundReceived;
    if (bytes > left || partial == (bytes == left)) { // also of a negative total
      return false; // still partial: reads that are in line do not make a unit of it
    }
    stream.inboundPartial = partial;
    stream.inboundReceived += bytes;
    if (stream.inboundDiscarded) {
      return true;
    }
    if (bulk) {
      reads.lastInto(stream, stream.inbound().extend(bytes, stream.inboundTotal, reads.arrays()));
    } else {
      stream.inbound().addBytes(region, start, bytes);
    }
    return true;
  }
}

package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;

import dev.ringfetch.fabric.MemoryRegion;

/** Puts the unit that comes in together, from one frame or from a chain. */
final class Chains {
  private Chains() {}

  /**
   * Adds a frame to a stream's unit. Memory grows with what has arrived, not with what is
   * announced.
   *
   * @param maxLength longest unit that is kept; a longer one is taken in and dropped.
   * @return false when the frame does not fit to what came before: the peer broke the protocol.
   */
  static boolean accept(
      Stream stream,
      int flags,
      int code,
      MemoryRegion region,
      int offset,
      int length,
      int maxLength) {
    final boolean continues = (flags & CONTINUATION) != 0;
    final boolean partial = (flags & PARTIAL) != 0;
    if (continues != stream.inboundPartial) {
      return false;
    }
    int start = offset;
    int bytes = length;
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
    stream.inboundPartial = partial;
    stream.inboundReceived += bytes;
    if (stream.inboundReceived > stream.inboundTotal // also of a negative one
        || partial == (stream.inboundReceived == stream.inboundTotal)) {
      return false;
    }
    if (!stream.inboundDiscarded) {
      stream.inbound().addBytes(region, start, bytes);
    }
    return true;
  }
}

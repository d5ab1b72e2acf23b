package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;

import dev.ringfetch.session.ServerStream;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Sections of a request that has any: read in the order in which they stand. */
final class Request {
  private final int flags;
  private final ByteBuffer unit;

  Request(ServerStream stream) throws MalformedUnitException {
    flags = stream.inboundFlags();
    unit = stream.inbound().view();
    if ((flags & DEADLINE) != 0) {
      unit.position(unit.position() + Long.BYTES); // the session has read it
    }
  }

  /** Full name of the method, or null when it has an id. Call first. */
  String takeMethodName() throws MalformedUnitException {
    if ((flags & NAMED) == 0) {
      return null;
    }
    final int length = unit.remaining() >= Short.BYTES ? unit.getShort() & 0xFFFF : -1;
    if (length < 0 || length > unit.remaining()) {
      throw new MalformedUnitException("method name length=" + length);
    }
    final ByteBuffer name = unit.slice(unit.position(), length);
    unit.position(unit.position() + length);
    return StandardCharsets.UTF_8.decode(name).toString();
  }

  /** Headers, or null when they are too long. Call second. */
  Metadata takeHeaders(int maxLength) throws MalformedUnitException {
    if ((flags & METADATA) == 0) {
      return new Metadata();
    }
    final byte[][] parts = Sections.readBlock(Sections.takeFirst(unit));
    return Sections.countedLength(parts) > maxLength ? null : InternalMetadata.newMetadata(parts);
  }

  /** Index of the message in the unit's array. Call last. */
  int messageOffset() {
    return unit.position();
  }

  /** Length of the message in bytes, or -1 when there is none. Call last. */
  int messageLength() throws MalformedUnitException {
    if ((flags & MESSAGE) != 0) {
      return unit.remaining();
    }
    if (unit.hasRemaining()) {
      throw new MalformedUnitException("remaining=" + unit.remaining());
    }
    return -1;
  }
}

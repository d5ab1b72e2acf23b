package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;

import dev.ringfetch.session.UnitBuffer;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Sections of a request that has any: read in the order in which they stand. */
final class Request {
  private static final long MAX_TIMEOUT = 100_000_000;
  private static final Metadata.Key<String> TIMEOUT =
      Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER);

  private final int flags;
  private final ByteBuffer unit;
  private long timeoutNs;

  Request(int flags, UnitBuffer bytes) {
    this.flags = flags;
    unit = bytes.view();
    if ((flags & DEADLINE) != 0) {
      timeoutNs = unit.getLong(); // there is room for it: the session has looked
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
    final Metadata headers;
    if ((flags & METADATA) == 0) {
      headers = new Metadata();
    } else {
      final byte[][] parts = Sections.readBlock(Sections.takeFirst(unit));
      if (Sections.countedLength(parts) > maxLength) {
        return null;
      }
      headers = InternalMetadata.newMetadata(parts);
    }
    if ((flags & DEADLINE) != 0) {
      headers.put(TIMEOUT, timeout(timeoutNs));
    }
    return headers;
  }

  /** A time as HTTP/2 would have it: eight digits at the most, and a unit. */
  static String timeout(long nanos) {
    if (nanos < MAX_TIMEOUT) {
      return Math.max(0, nanos) + "n";
    }
    if (nanos / 1_000 < MAX_TIMEOUT) {
      return nanos / 1_000 + "u";
    }
    if (nanos / 1_000_000 < MAX_TIMEOUT) {
      return nanos / 1_000_000 + "m";
    }
    return Math.min(nanos / 1_000_000_000, MAX_TIMEOUT - 1) + "S";
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

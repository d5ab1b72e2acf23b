package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;

import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reader of the sections of a request, to be called in their order. */
final class Request {
  private static final long MAX_TIMEOUT = 100_000_000;
  private static final byte[] TIMEOUT = "grpc-timeout".getBytes(StandardCharsets.US_ASCII);

  private final int flags;
  private final ByteBuffer unit;
  private long timeoutNs;
  private String authority;

  Request(int flags, UnitBuffer bytes) {
    this.flags = flags;
    unit = bytes.view();
    if ((flags & DEADLINE) != 0) {
      timeoutNs = unit.getLong(); // the session has checked the length
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

  /**
   * Headers, or null when they are too long: those of the session's peer, the deadline, and those
   * of the call itself; only the latter count for the limit. Call second.
   */
  Metadata takeHeaders(int maxLength, Peer peer) throws MalformedUnitException {
    final boolean timed = (flags & DEADLINE) != 0;
    final int own = peer.headerParts() + (timed ? 2 : 0);
    byte[][] parts;
    if ((flags & METADATA) == 0) {
      parts = new byte[own][];
    } else {
      parts = Sections.readBlock(Sections.takeFirst(unit), own);
      if (Sections.countedLength(parts, own) > maxLength) {
        return null;
      }
      if (parts.length > own && Arrays.equals(parts[own], Sections.AUTHORITY)) {
        authority = new String(parts[own + 1], StandardCharsets.US_ASCII);
        System.arraycopy(parts, own + 2, parts, own, parts.length - own - 2);
        parts = Arrays.copyOf(parts, parts.length - 2);
      }
    }
    peer.copyHeaders(parts);
    if (timed) {
      parts[own - 2] = TIMEOUT;
      parts[own - 1] = timeout(timeoutNs).getBytes(StandardCharsets.US_ASCII);
    }
    return InternalMetadata.newMetadata(parts);
  }

  /** The authority of the call, if it differs from the connection's. Call after the headers. */
  String authority() {
    return authority;
  }

  /** Formats a timeout as gRPC over HTTP/2 does: at most eight digits, and a unit. */
  private static String timeout(long nanos) {
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

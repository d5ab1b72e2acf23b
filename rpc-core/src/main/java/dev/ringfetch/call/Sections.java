package dev.ringfetch.call;

import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Encoder and decoder of the sections of units other than the message; see {@link
 * dev.ringfetch.session.unit.Units}. Reading checks every length, since the peer has written it.
 */
final class Sections {
  /** The overhead that gRPC counts for each entry of metadata, as HTTP/2 does. */
  private static final int ENTRY_OVERHEAD = 32;

  /** Name of the entry that a request's headers begin with if the call has its own authority. */
  static final byte[] AUTHORITY = ":authority".getBytes(StandardCharsets.US_ASCII);

  /** Headers in which gRPC's transports send the status; a handler's are dropped. */
  private static final List<Metadata.Key<String>> RESERVED =
      Stream.of("grpc-status", "grpc-message")
          .map(name -> Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER))
          .toList();

  private static final byte[] BINARY_SUFFIX =
      Metadata.BINARY_HEADER_SUFFIX.getBytes(StandardCharsets.US_ASCII);

  private Sections() {}

  static boolean isEmpty(Metadata metadata) {
    return InternalMetadata.headerCount(metadata) == 0;
  }

  /** Drops the headers or trailers of a response that only the transport may set. */
  static void discardReserved(Metadata metadata) {
    RESERVED.forEach(metadata::discardAll);
  }

  /** Adds length and block. */
  static void addMetadata(UnitBuffer unit, Metadata metadata) {
    addMetadata(unit, metadata, null);
  }

  /** Adds length and block of a request, with the authority that is the call's own, or null. */
  static void addMetadata(UnitBuffer unit, Metadata metadata, String authority) {
    final int lengthIndex = unit.extend(Integer.BYTES);
    final int before = unit.length();
    addBlock(unit, metadata, authority);
    unit.setInt(lengthIndex, unit.length() - before);
  }

  /** Adds block and length. */
  static void addTrailers(UnitBuffer unit, Metadata metadata) {
    final int before = unit.length();
    addBlock(unit, metadata, null);
    unit.addInt(unit.length() - before);
  }

  /** Adds the entries that gRPC would send: drops text that is not allowed in HTTP/2 headers. */
  private static void addBlock(UnitBuffer unit, Metadata metadata, String authority) {
    final byte[][] serialized = InternalMetadata.serialize(metadata);
    int count = authority == null ? 0 : 2;
    for (int i = 0; i < serialized.length; i += 2) {
      if (isSent(serialized[i], serialized[i + 1])) {
        count += 2;
      }
    }
    unit.addShort(count);
    if (authority != null) {
      addPart(unit, AUTHORITY);
      addPart(unit, authority.getBytes(StandardCharsets.US_ASCII));
    }
    for (int i = 0; i < serialized.length; i += 2) {
      if (isSent(serialized[i], serialized[i + 1])) {
        addPart(unit, serialized[i]);
        addPart(unit, serialized[i + 1]);
      }
    }
  }

  private static boolean isSent(byte[] name, byte[] value) {
    return isBinary(name) || isPrintable(value);
  }

  private static void addPart(UnitBuffer unit, byte[] part) {
    unit.addInt(part.length);
    unit.addBytes(part, 0, part.length);
  }

  private static boolean isBinary(byte[] name) {
    final int start = name.length - BINARY_SUFFIX.length;
    return start >= 0
        && Arrays.equals(name, start, name.length, BINARY_SUFFIX, 0, BINARY_SUFFIX.length);
  }

  private static boolean isPrintable(byte[] text) {
    for (final byte character : text) {
      if (character < ' ' || character > '~') {
        return false;
      }
    }
    return true;
  }

  /** Adds text and length. Too long a text is cut off, at a character. */
  static void addDescription(UnitBuffer unit, String description, int maxLength) {
    final byte[] text = description.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, maxLength);
    while (length < text.length && length > 0 && (text[length] & 0xC0) == 0x80) {
      length--;
    }
    unit.addBytes(text, 0, length);
    unit.addInt(length);
  }

  /**
   * Reads a block.
   *
   * @param free entries of the result that are left free in front of what is read.
   * @throws MalformedUnitException when the block is not one.
   */
  static byte[][] readBlock(ByteBuffer block, int free) throws MalformedUnitException {
    final int count = block.remaining() >= Short.BYTES ? block.getShort() & 0xFFFF : -1;
    if (count < 0 || (count & 1) != 0 || count > block.remaining() / Integer.BYTES) {
      throw new MalformedUnitException("metadata count=" + count);
    }
    final byte[][] parts = new byte[free + count][];
    for (int i = free; i < parts.length; i++) {
      parts[i] = new byte[readLength(block)];
      block.get(parts[i]);
    }
    if (block.hasRemaining()) {
      throw new MalformedUnitException("metadata remaining=" + block.remaining());
    }
    return parts;
  }

  /** Length of metadata in bytes as gRPC counts it, from an index on. */
  static int countedLength(byte[][] parts, int from) {
    int length = (parts.length - from) / 2 * ENTRY_OVERHEAD;
    for (int i = from; i < parts.length; i++) {
      length += parts[i].length;
    }
    return length;
  }

  /** Reads a 32-bit length that the buffer can hold. */
  static int readLength(ByteBuffer unit) throws MalformedUnitException {
    final int length = unit.remaining() >= Integer.BYTES ? unit.getInt() : -1;
    if (length < 0 || length > unit.remaining()) {
      throw new MalformedUnitException("length=" + length + " remaining=" + unit.remaining());
    }
    return length;
  }

  /** Takes a section that a 32-bit length precedes off the front. */
  static ByteBuffer takeFirst(ByteBuffer unit) throws MalformedUnitException {
    final int length = readLength(unit);
    final ByteBuffer section = unit.slice(unit.position(), length).order(unit.order());
    unit.position(unit.position() + length);
    return section;
  }

  /** Takes a section that a 32-bit length follows off the end. */
  static ByteBuffer takeLast(ByteBuffer unit) throws MalformedUnitException {
    final int lengthIndex = unit.limit() - Integer.BYTES;
    final int length = lengthIndex >= unit.position() ? unit.getInt(lengthIndex) : -1;
    if (length < 0 || length > lengthIndex - unit.position()) {
      throw new MalformedUnitException("length=" + length + " remaining=" + unit.remaining());
    }
    final ByteBuffer section = unit.slice(lengthIndex - length, length).order(unit.order());
    unit.limit(lengthIndex - length);
    return section;
  }
}

package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.ringfetch.fabric.RemoteDomain;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * The address of a domain or of a segment of it. It consists of names and numbers, never paths, as
 * {@link SessionAddress} does.
 *
 * <pre>
 *   0        1        5        9        13               29       30
 *  +--------+--------+--------+--------+----------------+--------+----------------+
 *  | version| domain | segment| length |     nonce      |  name  | process name   |
 *  |        | number | number |        |                | length | (ASCII)        |
 *  +--------+--------+--------+--------+----------------+--------+----------------+
 * </pre>
 *
 * @param process name of the owner's directory.
 * @param domain number of the domain in it.
 * @param segment number of the segment, or {@link #WHOLE} for the domain.
 * @param length of the segment's memory, or of the domain's record, in bytes.
 * @param nonce that the file must carry.
 */
record DomainAddress(String process, int domain, int segment, int length, Nonce nonce) {
  /** Instead of a segment's number: marks the address of a domain. */
  static final int WHOLE = -1;

  /** Prefix of the names of all files of domains. */
  static final String PREFIX = "domain-";

  private static final byte VERSION = 2; // a session's is 1
  private static final int FIXED_LENGTH = 30;

  /** Name of a domain's record; the names of its other files begin with it and a hyphen. */
  static String recordName(int domain) {
    return PREFIX + domain;
  }

  /** The domain's record, in the directory of its process. */
  Path record(Path directory) {
    return directory.resolve(recordName(domain));
  }

  /** The segment's file. */
  Path file(Path directory) {
    return directory.resolve(recordName(domain) + "-segment-" + segment);
  }

  /** The file of the gate that is the domain's own. */
  Path gate(Path directory) {
    return directory.resolve(recordName(domain) + "-gate");
  }

  /** The file of an admission. */
  Path admission(Path directory, String name) {
    return directory.resolve(recordName(domain) + "-admission-" + name);
  }

  /** The address of a segment of this domain. */
  DomainAddress segment(int number, int segmentLength) {
    return new DomainAddress(process, domain, number, segmentLength, nonce.beside());
  }

  /** Returns whether it is the address of a segment of another address's domain. */
  boolean isSegmentOf(DomainAddress other) {
    return segment != WHOLE
        && domain == other.domain
        && process.equals(other.process)
        && nonce.isBeside(other.nonce);
  }

  byte[] encode() {
    final byte[] name = process.getBytes(US_ASCII);
    final ByteBuffer out =
        ByteBuffer.allocate(FIXED_LENGTH + name.length).order(ByteOrder.LITTLE_ENDIAN);
    out.put(VERSION).putInt(domain).putInt(segment).putInt(length);
    nonce.put(out);
    out.put((byte) name.length).put(name);
    return out.array();
  }

  static DomainAddress decode(byte[] descriptor) throws IOException {
    final ByteBuffer in = ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN);
    try {
      final byte version = in.get();
      if (version != VERSION) {
        throw new IOException("not a domain: version=" + version);
      }
      final int domain = in.getInt();
      final int segment = in.getInt();
      final int length = in.getInt();
      final Nonce nonce = Nonce.get(in);
      final byte[] name = new byte[Byte.toUnsignedInt(in.get())];
      in.get(name);
      final String process = new String(name, US_ASCII);
      if (in.hasRemaining()
          || length <= 0
          || domain < 0
          || segment < WHOLE
          || segment >= RemoteDomain.SEGMENT_LIMIT
          || !ProcessDirectory.isName(process)) {
        throw new IOException(
            "malformed descriptor: bytes=" + descriptor.length + " length=" + length);
      }
      return new DomainAddress(process, domain, segment, length, nonce);
    } catch (BufferUnderflowException e) {
      throw new IOException("malformed descriptor: bytes=" + descriptor.length, e);
    }
  }
}

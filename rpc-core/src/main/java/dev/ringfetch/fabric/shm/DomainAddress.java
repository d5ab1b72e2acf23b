package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.RemoteDomain;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The address of a domain or of a segment of it, in the form of a {@link FileAddress}.
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
    return new FileAddress(process, domain, segment, length, nonce).encode(VERSION);
  }

  static DomainAddress decode(byte[] descriptor) throws IOException {
    final FileAddress read = FileAddress.decode(descriptor, VERSION, WHOLE);
    if (read.number() < 0 || read.part() >= RemoteDomain.SEGMENT_LIMIT) {
      throw new IOException(
          "malformed descriptor: domain=" + read.number() + " segment=" + read.part());
    }
    return new DomainAddress(
        read.process(), read.number(), read.part(), read.length(), read.nonce());
  }
}

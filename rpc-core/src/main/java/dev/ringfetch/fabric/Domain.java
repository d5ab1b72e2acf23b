package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * Memory of this process that admitted peers reach with stated rights: a list of segments, and the
 * page of a gate. It has no doorbell: peers read and write without this process's help.
 *
 * <p>On shm the processes of one user share memory: rights and revocation are cooperative there.
 *
 * <p>May be used from any thread. Closed by its owner, at the latest by its fabric.
 */
public interface Domain extends AutoCloseable {
  /** The rights of every peer. */
  Rights rights();

  /** Address of the domain for {@link Fabric#connectDomain}. */
  byte[] descriptor();

  /** The gate that peers see as the segment {@link RemoteDomain#GATE}. */
  GatePage gate();

  /**
   * Adds a segment.
   *
   * @param length in bytes, a multiple of 64.
   * @throws IOException when the memory is not to be had, or the domain is closed.
   */
  DomainSegment grow(int length) throws IOException;

  /**
   * Adds memory that this process has already, in a domain of another fabric for instance, as a
   * segment: the two show their peers the same bytes. The memory stays its owner's, and has to stay
   * there until the segment is closed.
   *
   * @param memory mapped, or outside the heap; its length is a multiple of 64.
   * @throws IOException when the fabric cannot reach memory that is not of its own making, or the
   *     domain is closed.
   */
  default DomainSegment adopt(MemoryRegion memory) throws IOException {
    throw new IOException("only memory of its own: domain=" + this);
  }

  /**
   * Admits one peer.
   *
   * @param peerHint the peer's {@link Fabric#hint()}.
   * @param token 16 bytes that the peer presents, once.
   * @throws IOException when the peer cannot reach the memory, too many are admitted, or the domain
   *     is closed.
   */
  DomainAdmission admit(byte[] peerHint, byte[] token) throws IOException;

  /** Revokes every admission and gives the memory back. Idempotent. */
  @Override
  void close();
}

package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * Options of a domain. Setters return this; a context is not changed once a domain was opened with
 * it.
 */
public final class DomainContext {
  /** Default of {@link #memoryLimit()} in bytes. */
  public static final long MEMORY_LIMIT_DEFAULT = 1L << 40;

  /** Default of {@link #peerLimit()}. */
  public static final int PEER_LIMIT_DEFAULT = 1024;

  private Rights rights = Rights.READ;
  private long memoryLimit = MEMORY_LIMIT_DEFAULT;
  private int peerLimit = PEER_LIMIT_DEFAULT;
  private GatePage gate;
  private long epoch;
  private boolean sparse;

  /** The rights of every peer. */
  public Rights rights() {
    return rights;
  }

  /** Sets {@link #rights()}. */
  public DomainContext rights(Rights granted) {
    this.rights = granted;
    return this;
  }

  /** Limit of the lengths of all segments together, in bytes. */
  public long memoryLimit() {
    return memoryLimit;
  }

  /** Sets {@link #memoryLimit()}. */
  public DomainContext memoryLimit(long bytes) {
    this.memoryLimit = bytes;
    return this;
  }

  /**
   * Checks that a domain may grow.
   *
   * @param segments that it has had so far.
   * @param memory lengths of the segments that it has, in bytes.
   * @param length of the next segment, in bytes.
   * @throws IOException when one of the limits is reached.
   */
  public void checkGrowth(int segments, long memory, int length) throws IOException {
    if (length > memoryLimit - memory) {
      throw new IOException(
          "the domain is full: length="
              + length
              + " memory="
              + memory
              + " memoryLimit="
              + memoryLimit);
    }
    if (segments == RemoteDomain.SEGMENT_LIMIT) {
      throw new IOException("too many segments: limit=" + RemoteDomain.SEGMENT_LIMIT);
    }
  }

  /** Limit of the admissions that are open at one time. */
  public int peerLimit() {
    return peerLimit;
  }

  /** Sets {@link #peerLimit()}. */
  public DomainContext peerLimit(int admissions) {
    this.peerLimit = admissions;
    return this;
  }

  /** The gate that peers of the domain see, or null where the domain has one of its own. */
  public GatePage gate() {
    return gate;
  }

  /**
   * The epoch in which the memory may be read. While the {@link #gate()} names it, the memory
   * outlives a process that is killed.
   */
  public long epoch() {
    return epoch;
  }

  /** Sets {@link #gate()} and {@link #epoch()}. */
  public DomainContext gate(GatePage page, long openEpoch) {
    this.gate = page;
    this.epoch = openEpoch;
    return this;
  }

  /** Whether memory takes its pages at the first store, instead of when the domain grows. */
  public boolean sparse() {
    return sparse;
  }

  /**
   * Sets {@link #sparse()}. A first store that finds no page left ends the process: only for memory
   * that is known to be there.
   */
  public DomainContext sparse(boolean late) {
    this.sparse = late;
    return this;
  }
}

package dev.ringfetch.fabric;

/**
 * A contiguous part of a domain's memory, zeroed at first. Its number counts the segments that the
 * domain grew by before it; numbers are not reused.
 *
 * <p>May be used from any thread.
 */
public interface DomainSegment extends AutoCloseable {
  /** Number of the segment in its domain, from 0. */
  int number();

  /** Length in bytes. */
  long length();

  /** The memory as its owner reaches it. */
  MemoryRegion region();

  /** Its address, for a peer's {@link RemoteDomain#attach}. */
  byte[] descriptor();

  /**
   * Takes the segment out of the domain and gives its memory back at once. The owner's threads must
   * not use it any more. Loads of a peer fail with {@link InternalError}, and its work requests are
   * {@link QueuePair#FLUSHED}; where the domain grants {@link Rights#ATOMIC} the memory goes when
   * the last process has unmapped it instead. Idempotent.
   */
  @Override
  void close();
}

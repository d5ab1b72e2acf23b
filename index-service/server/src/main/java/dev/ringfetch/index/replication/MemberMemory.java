package dev.ringfetch.index.replication;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.util.List;

/**
 * The memory of one replica that leaders reach: its gate, and log memory for one epoch at a time.
 *
 * <p>The replica's owner only.
 */
public interface MemberMemory extends AutoCloseable {
  /** The gate, closed at first. */
  GatePage gate();

  /**
   * Makes log memory that no leader had before, and admits one leader to it.
   *
   * @param hints of the leader
   * @param length of the memory in bytes
   * @return null if no fabric connects the two
   * @throws IOException if the memory is not to be had
   */
  Offered offer(List<FabricHint> hints, int length) throws IOException;

  /** Ends what was offered: a leader may still place there, but nothing is in it any more. */
  void withdraw();

  /** Gives all memory back. Idempotent. */
  @Override
  void close();

  /**
   * Log memory that was offered.
   *
   * @param region zeroed
   * @param offer for the leader
   */
  record Offered(MemoryRegion region, LogOffer offer) {}
}

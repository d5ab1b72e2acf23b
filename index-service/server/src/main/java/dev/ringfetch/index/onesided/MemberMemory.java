package dev.ringfetch.index.onesided;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one replica that leaders reach: log memory for one epoch at a time, and a gate.
 *
 * <p>The replica's owner only.
 */
public interface MemberMemory extends AutoCloseable {
  /**
   * Makes log memory that no leader had before, and admits one leader to it. What was offered
   * before was withdrawn.
   *
   * @param hints of the leader
   * @param length of the memory in bytes
   * @return null if no fabric connects the two
   * @throws IOException if the memory is not to be had
   */
  @Nullable Offered offer(List<FabricHint> hints, int length) throws IOException;

  /** Ends what was offered: whatever a leader still places does not get into memory in use. */
  void withdraw();

  /** Gives all memory back. Idempotent. */
  @Override
  void close();

  /**
   * Log memory that was offered.
   *
   * @param region zeroed
   * @param gate that the leader sees: closed, and that of earlier offers perhaps
   * @param offer for the leader
   */
  record Offered(MemoryRegion region, GatePage gate, LogOffer offer) {}
}

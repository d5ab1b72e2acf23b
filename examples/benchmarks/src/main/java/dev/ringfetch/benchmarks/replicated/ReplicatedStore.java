package dev.ringfetch.benchmarks.replicated;

import dev.ringfetch.benchmarks.stores.StoreKind;
import java.io.IOException;
import java.util.List;

/**
 * A store whose members are processes of this machine that run. Closing it ends them all.
 *
 * <p>Used by one thread at a time.
 */
public interface ReplicatedStore extends AutoCloseable {
  /** How a client reaches the store. */
  StoreKind kind();

  /** Addresses of the members, with commas between. */
  String target();

  /** Ids of the members' processes. */
  List<Long> processes();

  /**
   * The process that leads an entry.
   *
   * @param number of the entry, which was written
   */
  long leader(long number) throws IOException;

  /** Expects that a member's process will be killed, so that its end is not reported. */
  default void expectEnd(long process) {}

  /** Starts a member again in the place of a process that was killed. */
  void restart(long process) throws IOException;

  /** Waits until all members are there and have all entries; there has to be one. */
  void awaitWhole() throws IOException;

  @Override
  void close();
}

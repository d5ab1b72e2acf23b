package dev.ringfetch.index.host;

import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.v1.GrantResponse;
import io.grpc.StatusException;
import java.util.function.BooleanSupplier;

/**
 * The leader's part of an index besides its entries: the barrier by which reads confirm that it
 * still leads, its numbered clients, and its gates.
 *
 * @param isOnly whether no other node can ever lead the index: what the node's journal has of it is
 *     never cut, and the gate of the process is the only one
 * @param alone whether the node is the only member, so that reads need no barrier; any thread asks
 * @param barrier confirms reads
 * @param clients those of this index
 * @param gates at which direct readers look
 */
public record Leadership(
    boolean isOnly, BooleanSupplier alone, Barrier barrier, ClientRegistry clients, Gates gates) {
  /** Confirms that this node leads the index. */
  @FunctionalInterface
  public interface Barrier {
    /**
     * Asks all members whether they still obey this leader. A read that begins after a yes gives
     * what was current at some moment since the question.
     */
    void confirm(Told told);
  }

  /** Says at which gates those look that read the leader's memory. */
  @FunctionalInterface
  public interface Gates {
    /**
     * Adds the group, its epoch and its members to a grant.
     *
     * @throws StatusException FAILED_PRECONDITION if this node does not lead an established epoch
     *     now, or a member's address is not known
     */
    void describe(GrantResponse.Builder grant) throws StatusException;
  }

  /** Takes the answer. */
  @FunctionalInterface
  public interface Told {
    /** On any thread, once: whether this node led after it was asked. */
    void onConfirmed(boolean leads);
  }
}

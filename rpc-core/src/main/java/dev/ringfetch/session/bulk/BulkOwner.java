package dev.ringfetch.session.bulk;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.session.owner.OwnedBy;

/** The interface of a session for its {@link BulkPool} and {@link MemoryExchange}. */
public interface BulkOwner {
  /** The time of the session's clock, in nanoseconds. */
  long nanoTime();

  /** The counters of the session. */
  Tally tally();

  /** The name of the session, for messages. */
  String label();

  /** Asks for a round, in which offers are sent and memory is taken back. Any thread. */
  void requestRound();

  /** True when the session has ended. Any thread. */
  boolean hasEnded();

  /** Ends the session soon, because the peer broke a rule. Any thread. */
  void blameLater(String reason);

  /** Longest payload of one frame, in bytes. */
  @OwnedBy("session")
  int maxPayload();

  /** Sends the peer the descriptor of memory that is on offer. */
  @OwnedBy("session")
  void sendOffer(byte[] descriptor);

  /** Sends the answer to an offer of the peer. */
  @OwnedBy("session")
  void sendAnswer(int answer);
}

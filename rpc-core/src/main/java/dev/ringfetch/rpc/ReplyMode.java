package dev.ringfetch.rpc;

import dev.ringfetch.session.remote.ReplyPolicy;

/**
 * The way in which answers get to a client that cannot load from the server's memory. It has no
 * effect between processes that share memory: the client polls that memory.
 */
@Experimental
public enum ReplyMode {
  /**
   * {@link #FETCH} or {@link #PUSH}, whichever makes calls faster, chosen again while the session
   * lasts. Each client chooses for itself; see {@code docs/adr/0012-adaptive-replies.md}.
   */
  ADAPTIVE(ReplyPolicy.ADAPTIVE),
  /**
   * The client reads the answers out of the server's memory; this costs the server no processor
   * time and no outbound operation (RFP's remote fetch). While the client sleeps, the server pushes
   * them.
   */
  FETCH(ReplyPolicy.FETCH),
  /** The server writes them into the client's memory, which the client polls. */
  PUSH(ReplyPolicy.PUSH),
  /**
   * As {@link #FETCH}, but the server also sends each answer in an unreliable datagram (HERD's
   * reply), and the client reads only answers for which no datagram has come in time. Over a fabric
   * that has no datagrams it is {@link #FETCH}.
   */
  DATAGRAM(ReplyPolicy.DATAGRAM);

  private final ReplyPolicy policy;

  ReplyMode(ReplyPolicy policy) {
    this.policy = policy;
  }

  /** Returns the mode in the form that sessions take. */
  ReplyPolicy policy() {
    return policy;
  }
}

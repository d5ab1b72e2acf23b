package dev.ringfetch.rpc;

import dev.ringfetch.session.remote.ReplyPolicy;

/**
 * How answers get to a client that cannot load from the server's memory. Between processes that
 * share memory there is no such choice: the client polls it.
 */
public enum ReplyMode {
  /**
   * {@link #FETCH} or {@link #PUSH}, whichever calls take less time with, and changed while the
   * session goes on. Each client finds its own; see {@code docs/adr/0012-adaptive-replies.md}.
   */
  ADAPTIVE(ReplyPolicy.ADAPTIVE),
  /**
   * The client reads them out of the server's memory, for which the server's processor and outbound
   * engine do nothing (RFP's remote fetch). While it sleeps, the server pushes them.
   */
  FETCH(ReplyPolicy.FETCH),
  /** The server writes them into the client's memory, which the client polls. */
  PUSH(ReplyPolicy.PUSH),
  /**
   * As {@link #FETCH}, but the server also sends each answer in an unreliable datagram (HERD's
   * reply), and the client reads only what none has brought in time. Over a fabric that has no
   * datagrams it is {@link #FETCH}.
   */
  DATAGRAM(ReplyPolicy.DATAGRAM);

  private final ReplyPolicy policy;

  ReplyMode(ReplyPolicy policy) {
    this.policy = policy;
  }

  /** The same, for sessions. */
  ReplyPolicy policy() {
    return policy;
  }
}

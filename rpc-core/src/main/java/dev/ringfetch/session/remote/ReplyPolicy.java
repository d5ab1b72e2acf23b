package dev.ringfetch.session.remote;

/**
 * The way in which the answers of one session get to a client that cannot load from the server's
 * memory. It has no effect between processes that share memory: the client polls that memory.
 */
public enum ReplyPolicy {
  /** {@link #FETCH} or {@link #PUSH}: {@link ReplyChoice} changes it while the session goes on. */
  ADAPTIVE,
  /** The client reads them out of the server's memory. While it sleeps, the server pushes them. */
  FETCH,
  /** The server writes them into the client's memory, which the client polls. */
  PUSH,
  /** As {@link #FETCH}; the server also sends each answer in an unreliable datagram. */
  DATAGRAM
}

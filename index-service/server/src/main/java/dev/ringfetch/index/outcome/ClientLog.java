package dev.ringfetch.index.outcome;

/** The log of the clients of a server, for the next server. */
public interface ClientLog {
  /**
   * Records a new client.
   *
   * @param firstIncomplete the first of its writes whose outcome is kept
   * @param done runs on any thread when the record is durable, or never will be
   * @return false if there is no room for the record, and nothing was done
   */
  boolean opened(long client, long firstIncomplete, Runnable done);

  /** Records the end of a client if there is room; otherwise its lease ends at the next server. */
  void closed(long client);
}

package dev.ringfetch.index.outcome;

/** Records which clients there are, for the next server. */
public interface ClientLog {
  /**
   * Records that there is a client.
   *
   * @param firstIncomplete the first of its writes whose outcome is kept
   * @param done is run when the record is durable, or never will be; on any thread
   * @return false if there is no room for the record, and nothing was done
   */
  boolean opened(long client, long firstIncomplete, Runnable done);

  /** Records that there is a client no more, if there is room: the next server finds out else. */
  void closed(long client);
}

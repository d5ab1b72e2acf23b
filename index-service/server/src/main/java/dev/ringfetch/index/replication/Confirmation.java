package dev.ringfetch.index.replication;

/**
 * A read barrier: the answer to whether a replica still leads, which no member denies. It may be
 * used again once it was answered.
 */
public abstract class Confirmation {
  /** The next one of the chain that this is in. */
  Confirmation following;

  boolean confirmed;

  /** Creates a barrier. */
  protected Confirmation() {}

  /**
   * Takes the answer, on any thread, which must not be blocked.
   *
   * @param leads whether what the store has after this is not older than what any replica had that
   *     served when the barrier was asked for. Else nothing may be answered from the store.
   */
  public abstract void onConfirmed(boolean leads);
}

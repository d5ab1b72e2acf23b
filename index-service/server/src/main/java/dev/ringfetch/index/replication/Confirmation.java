package dev.ringfetch.index.replication;

/**
 * A read barrier: asks whether a replica still leads, which every member has to confirm. Reusable
 * after its answer.
 */
public abstract class Confirmation {
  /** The next barrier of the chain. */
  Confirmation following;

  boolean confirmed;

  /** Creates a barrier. */
  protected Confirmation() {}

  /**
   * Called with the answer, on any thread; must not block.
   *
   * @param leads true if the store is at least as new as that of any replica that served when the
   *     barrier began. If false, nothing may be answered from the store.
   */
  public abstract void onConfirmed(boolean leads);
}

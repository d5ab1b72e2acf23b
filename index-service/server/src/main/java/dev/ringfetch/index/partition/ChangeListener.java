package dev.ringfetch.index.partition;

/**
 * The receiver of a partition's changes. The partition's owner calls it, one thread at a time, with
 * each record after its commit and its application, in the order of the LSNs. Must not block, nor
 * throw.
 */
public interface ChangeListener {
  /**
   * Called first, once.
   *
   * @param lsn the changes after this LSN come, and no others.
   */
  void begin(long lsn);

  /** Takes a change, before its answer. The write is the owner's again when this returns. */
  void onChange(Write change);

  /** Called after each of the owner's cycles, with changes or without. */
  void onCycleEnd();
}

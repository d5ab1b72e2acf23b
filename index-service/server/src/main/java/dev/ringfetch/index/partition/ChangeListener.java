package dev.ringfetch.index.partition;

/**
 * The receiver of a partition's changes. The partition's owner calls it, one thread at a time, with
 * each record after its commit and its application, in the order of the LSNs. It must not block or
 * throw.
 */
public interface ChangeListener {
  /**
   * Called first, once.
   *
   * @param lsn exactly the changes after this LSN follow.
   */
  void begin(long lsn);

  /**
   * Called with each change, before its answer. The write belongs to the owner again after the
   * return.
   */
  void onChange(Write change);

  /** Called after each of the owner's cycles, with changes or without. */
  void onCycleEnd();
}

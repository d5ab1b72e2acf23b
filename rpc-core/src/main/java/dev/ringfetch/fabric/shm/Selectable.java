package dev.ringfetch.fabric.shm;

/** What is attached to a selection key of a doorbell. */
@FunctionalInterface
interface Selectable {
  /**
   * The channel may be ready, or may have been: nested polls see the same key. Called in the thread
   * that owns the doorbell; never throws.
   *
   * @return how many events were told to listeners.
   */
  int onReady();
}

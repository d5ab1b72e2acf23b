package dev.ringfetch.fabric.shm;

/** The attachment of a selection key of a doorbell: handles its channel's events. */
@FunctionalInterface
interface Selectable {
  /**
   * Called when the channel is ready, or may have been: nested polls see the same key. On the
   * thread that owns the doorbell; never throws.
   *
   * @return how many events were delivered to listeners.
   */
  int onReady();
}

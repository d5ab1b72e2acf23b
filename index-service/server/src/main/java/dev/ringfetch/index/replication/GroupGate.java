package dev.ringfetch.index.replication;

/**
 * The gate of one replica: shows the epoch that the replica obeys to clients that read the memory
 * of the group's leader.
 *
 * <p>Used by the replica's owner alone.
 */
public interface GroupGate {
  /** A gate without readers. */
  GroupGate NONE =
      new GroupGate() {
        @Override
        public void move(long epoch) {}

        @Override
        public void end() {}
      };

  /**
   * Moves the gate to an epoch later than all before: no reader finds an earlier one afterwards.
   */
  void move(long epoch);

  /** Closes the gate for good at the end of the replica. Idempotent. */
  void end();
}

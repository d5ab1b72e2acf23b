package dev.ringfetch.index.replication;

/**
 * The gate of one replica, by which clients that read the memory of the group's leader see which
 * epoch the replica obeys.
 *
 * <p>The replica's owner only.
 */
public interface GroupGate {
  /** A gate at which nobody looks. */
  GroupGate NONE =
      new GroupGate() {
        @Override
        public void move(long epoch) {}

        @Override
        public void end() {}
      };

  /** The replica obeys an epoch, which is later than all before: no look finds an earlier one. */
  void move(long epoch);

  /** The replica has ended: closes the gate for good. Idempotent. */
  void end();
}

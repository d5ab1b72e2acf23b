package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.DiskRoom;

/**
 * The progress of a leader's own disk: whether it takes the records that come, or stands still.
 *
 * <p>The replica's owner only.
 */
final class OwnDiskProgress {
  private final ReplicaCore core;
  private long position;
  private long sinceNs;
  private boolean wasComplete; // it lacked nothing in the cycle before

  OwnDiskProgress(ReplicaCore core) {
    this.core = core;
  }

  /** Begins an epoch. */
  void begin(long nowNs) {
    position = -1;
    sinceNs = nowNs;
  }

  /** Looks how far the disk is. */
  void look(long nowNs) {
    final long taken = core.writesLater() ? core.disk().written() : core.durable();
    final boolean isComplete = taken == core.log().end();
    if (taken != position || isComplete || wasComplete) {
      position = taken;
      sinceNs = nowNs;
    }
    wasComplete = isComplete;
  }

  /** Ignores a pause of this replica. */
  void excuse(long nowNs, long stoodNs) {
    sinceNs = Math.min(nowNs, sinceNs + stoodNs);
  }

  /** Time since which the disk lacks records and has got none. */
  long standsNs(long nowNs) {
    return nowNs - sinceNs;
  }

  /** Whether the disk lacks records, and has got none for so long that it must be full. */
  boolean isStuck(long nowNs) {
    return core.hasDisk() && standsNs(nowNs) > MemberProgress.DISK_NS;
  }

  /** Whether the disk could not have the records of another epoch. */
  boolean hasNoRoom(long nowNs) {
    return isStuck(nowNs)
        || (core.diskRoom() == DiskRoom.DISK_ROOM_NONE && standsNs(nowNs) > MemberProgress.FULL_NS);
  }

  /** Whether the disk has no room, or will soon have none. */
  boolean isShort() {
    return isShort(core.diskRoom());
  }

  /** Whether a node says that its disk has no room, or will soon have none. */
  static boolean isShort(DiskRoom room) {
    return room == DiskRoom.DISK_ROOM_SHORT || room == DiskRoom.DISK_ROOM_NONE;
  }
}

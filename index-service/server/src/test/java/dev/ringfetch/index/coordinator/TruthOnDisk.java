package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.disk.Disk;
import java.io.IOException;
import java.util.function.LongSupplier;

/** The state of a cluster on a disk that is not the host's. */
public final class TruthOnDisk {
  private TruthOnDisk() {}

  /**
   * Continues the cluster that the disk has, or creates it there.
   *
   * @param random draws the ids of groups
   */
  public static LocalCoordinator.Truth open(Disk disk, LongSupplier random) throws IOException {
    return LocalCoordinator.Truth.open(disk, 1, 0, random);
  }
}

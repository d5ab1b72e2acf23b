package dev.ringfetch.index.data;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.HostDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The begin of a copy of a data directory: a directory with the same identity that no server has
 * owned yet. Only one of the two may be served.
 *
 * @param path of the copy
 * @param origin the first 64 bits of the id of both
 */
public record DirectoryCopy(Path path, long origin) {
  /**
   * Creates the directory of the copy.
   *
   * @param source directory, which may be in use
   * @param target absent, or empty
   */
  public static DirectoryCopy of(Disk source, Path target) throws IOException {
    final Identity identity = Identity.read(source, DataDirectory.IDENTITY);
    DataDirectory.checkVacant(target);
    if (!Files.isDirectory(target)) {
      Files.createDirectory(
          target,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    return new DirectoryCopy(target.toRealPath(), identity.origin());
  }

  /** Completes the copy after its journal: from now on a server can start on it. */
  public void complete(Disk source) throws IOException {
    final Identity identity = Identity.read(source, DataDirectory.IDENTITY);
    DataDirectory.createLock(path);
    DataDirectory.createGate(path);
    new Identity(
            identity.id(), Identity.NO_BOOT, Place.NONE, identity.incarnation(), identity.cluster())
        .write(new HostDisk(path), DataDirectory.IDENTITY);
    new HostDisk(path.getParent()).syncDirectory();
  }
}

package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import java.util.Set;

/**
 * Checks that files and peers belong to the user of this process alone. Immutable.
 *
 * <p>Names in a world-writable directory prove nothing, so every path is checked before it is used,
 * without following links.
 */
final class Ownership {
  private static final Path SELF = Path.of("/proc/self");
  private static final int TYPE_MASK = 0170000;
  private static final int PERMISSION_MASK = 0777;
  private static final int DIRECTORY_MODE = 0040700;
  private static final int FILE_MODE = 0100600;

  private final int uid;
  private final UserPrincipal user;

  private Ownership(int uid, UserPrincipal user) {
    this.uid = uid;
    this.user = user;
  }

  /** The user that this process runs as. */
  static Ownership ofThisProcess() throws IOException {
    final int uid = (Integer) Files.getAttribute(SELF, "unix:uid");
    return new Ownership(uid, Files.getOwner(SELF));
  }

  int uid() {
    return uid;
  }

  /** Attribute that creates a directory for this user alone. */
  static FileAttribute<Set<PosixFilePermission>> privateDirectory() {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  }

  /** Attribute that creates a file for this user alone. */
  static FileAttribute<Set<PosixFilePermission>> privateFile() {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  }

  /** Refuses a path that is not a directory of this user alone. */
  void checkDirectory(Path path) throws IOException {
    check(path, DIRECTORY_MODE, "a directory with mode 0700");
  }

  /** Refuses a path that is not a regular file of this user alone. */
  void checkFile(Path path) throws IOException {
    check(path, FILE_MODE, "a regular file with mode 0600");
  }

  private void check(Path path, int expectedMode, String expected) throws IOException {
    final Map<String, Object> found =
        Files.readAttributes(path, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS);
    final int mode = (Integer) found.get("mode") & (TYPE_MASK | PERMISSION_MASK);
    final int owner = (Integer) found.get("uid");
    if (mode != expectedMode || owner != uid) {
      throw new IOException(
          path
              + " is not "
              + expected
              + " of this user: mode=0"
              + Integer.toOctalString(mode)
              + " uid="
              + owner
              + " expectedUid="
              + uid);
    }
  }

  /**
   * Refuses a socket whose other end belongs to another user.
   *
   * <p>Users are equal when their ids are. The JDK cannot look up names without a file descriptor:
   * a process that has run out of them gets the id as the name.
   */
  void checkPeer(SocketChannel channel) throws IOException {
    final UserPrincipal peer = PeerCredentials.user(channel);
    if (!peer.equals(user)) {
      throw new IOException("peer belongs to another user: user=" + peer.getName());
    }
  }
}

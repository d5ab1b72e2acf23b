package dev.ringfetch.index.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The place of a file or a directory, which distinguishes it from its copies.
 *
 * <p>An inode number does not change when the file is renamed, or its file system is mounted again.
 * The device number is valid within one mount only.
 *
 * @param device number of the file system's device
 * @param inode number of the file in it
 */
record Place(long device, long inode) {
  /** Value of an unknown place. */
  static final Place NONE = new Place(0, 0);

  /** The place of the file at a path; links are not followed. */
  static Place of(Path path) throws IOException {
    final Map<String, Object> attributes =
        Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
    return new Place((Long) attributes.get("dev"), (Long) attributes.get("ino"));
  }
}

package dev.ringfetch.index.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The place of a file or a directory: what tells it from a copy of it.
 *
 * <p>An inode number stays when the file is renamed, and when its file system is mounted anew. The
 * device number means something within one mount only.
 *
 * @param device number of the file system's device
 * @param inode number of the file in it
 */
record Place(long device, long inode) {
  /** Instead of a place: it is not known. */
  static final Place NONE = new Place(0, 0);

  /** The place of what is at a path now, itself and not where a link leads. */
  static Place of(Path path) throws IOException {
    final Map<String, Object> attributes =
        Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
    return new Place((Long) attributes.get("dev"), (Long) attributes.get("ino"));
  }
}

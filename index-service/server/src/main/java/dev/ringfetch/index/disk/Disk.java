package dev.ringfetch.index.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A directory of files on a disk, as durable data needs it.
 *
 * <p>What was written survives the end of the process at once, and a loss of power after {@link
 * DiskFile#sync}. Creation, removal and renaming of a file survive a loss of power after {@link
 * #syncDirectory}. Until then any part of them may survive, in units of 512 bytes.
 *
 * <p>Used by one thread at a time.
 */
public interface Disk {
  /** Suffix of the name of a file that is to replace another one. */
  String UNFINISHED = ".new";

  /** Names of all files, in ascending order. */
  List<String> list() throws IOException;

  /**
   * Creates an empty file.
   *
   * @throws java.nio.file.FileAlreadyExistsException if there is one of this name
   */
  DiskFile create(String name) throws IOException;

  /**
   * Opens a file for reading and writing.
   *
   * @throws java.nio.file.NoSuchFileException if there is none of this name
   */
  DiskFile open(String name) throws IOException;

  /** Renames a file, in place of one that has the new name, which no one may use any more. */
  void rename(String from, String to) throws IOException;

  /** Removes a file that is closed; without effect if there is none of this name. */
  void delete(String name) throws IOException;

  /** Makes creations, removals and renamings so far survive a loss of power. */
  void syncDirectory() throws IOException;

  /**
   * Replaces a file, or creates it: after a loss of power it has either the old or the new content.
   *
   * @throws IOException if the disk fails or has no room; no unfinished file is left then
   */
  default void replace(String name, ByteBuffer content) throws IOException {
    final String unfinished = name + UNFINISHED;
    delete(unfinished);
    try {
      try (DiskFile file = create(unfinished)) {
        file.write(0, content);
        file.sync();
      }
      rename(unfinished, name);
    } catch (IOException e) {
      delete(unfinished);
      throw e;
    }
    syncDirectory(); // the rename itself
  }

  /** Where the file of this name is, for people. */
  String describe(String name);
}

package dev.ringfetch.counters;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;

/**
 * Where the processes of a user keep their counters. Found by {@link ServiceLoader}: which files a
 * process leaves in the shared directory, and what becomes of them, is the affair of the fabric
 * that is at home there.
 */
public interface CounterFiles {
  /** The implementation on the class path, or null. */
  static CounterFiles find() {
    for (final CounterFiles found :
        ServiceLoader.load(CounterFiles.class, CounterFiles.class.getClassLoader())) {
      return found;
    }
    return null;
  }

  /**
   * Creates the file of this process, empty. It goes with {@link Created#close}, or, if this
   * process dies before, when another process of the user comes.
   *
   * @param directory of the shared-memory fabric.
   */
  Created create(Path directory) throws IOException;

  /**
   * Files of all processes of this user, the dead ones' too that nobody has removed, by process id.
   * They can go at any time.
   *
   * @param directory of the shared-memory fabric.
   */
  List<Path> list(Path directory) throws IOException;

  /** A file that was created. */
  interface Created extends AutoCloseable {
    /** The file, open for writing. */
    FileChannel channel();

    /** Removes the file. */
    @Override
    void close();
  }
}

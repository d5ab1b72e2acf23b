package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;

/** Best-effort release of resources, where a failure must not hide or prevent later steps. */
final class Cleanup {
  private static final Logger LOGGER = System.getLogger(Cleanup.class.getName());

  private Cleanup() {}

  /** Deletes a file or an empty directory; another process may have been faster. */
  static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "cannot delete {0}: {1}", path, e);
    }
  }

  /** Closes a resource, or does nothing for null. */
  static void close(AutoCloseable resource) {
    if (resource == null) {
      return;
    }
    try {
      resource.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      LOGGER.log(Level.WARNING, "interrupted while closing " + resource, e);
    } catch (Exception e) {
      LOGGER.log(Level.WARNING, "cannot close " + resource, e);
    }
  }
}

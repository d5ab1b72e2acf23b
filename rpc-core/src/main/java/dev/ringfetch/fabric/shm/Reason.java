package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * The system's reason of a failure, without the file's name, so that one reason is logged only
 * once.
 */
final class Reason {
  private Reason() {}

  static String of(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "No such file or directory";
    }
    if (e instanceof AccessDeniedException) {
      return "Permission denied";
    }
    return e instanceof FileSystemException failure && failure.getReason() != null
        ? failure.getReason()
        : e.getMessage();
  }
}

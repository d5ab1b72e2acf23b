package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.nio.file.FileSystemException;

/** What the system said, without the file: one reason is logged once, whatever the file's name. */
final class Reason {
  private Reason() {}

  static String of(IOException e) {
    return e instanceof FileSystemException failure && failure.getReason() != null
        ? failure.getReason()
        : e.getMessage();
  }
}

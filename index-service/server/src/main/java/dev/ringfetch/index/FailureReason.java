package dev.ringfetch.index;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** The reason of a failure, for one line of output. */
final class FailureReason {
  private FailureReason() {}

  /**
   * Returns the root cause's message, since transports wrap the operating system's message in their
   * own. The message of a {@link FileSystemException} is often the path alone: then the reason is
   * the outermost message, or that of the system, with the path.
   */
  static String of(Throwable failure) {
    Throwable bottom = failure;
    while (bottom.getCause() != null) {
      bottom = bottom.getCause();
    }
    if (bottom instanceof FileSystemException file) {
      return file == failure || failure.getMessage() == null
          ? file.getFile() + ": " + ofSystem(file)
          : failure.getMessage();
    }
    return bottom.getMessage() == null ? bottom.toString() : bottom.getMessage();
  }

  private static String ofSystem(FileSystemException failure) {
    if (failure.getReason() != null) {
      return failure.getReason();
    }
    if (failure instanceof NoSuchFileException) {
      return "No such file or directory";
    }
    if (failure instanceof AccessDeniedException) {
      return "Permission denied";
    }
    if (failure instanceof FileAlreadyExistsException) {
      return "File exists";
    }
    return failure instanceof NotDirectoryException
        ? "Not a directory"
        : failure.getClass().getSimpleName();
  }
}

package dev.ringfetch.index.files;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Files whose contents are in use, and are read again when they have changed. If the new contents
 * cannot be used, the former ones stay in use.
 *
 * <p>Safe for use by many threads.
 */
public final class ChangingFiles {
  /** The use of the files' contents. */
  public interface User {
    /**
     * Uses new contents.
     *
     * @param contents of the files, in their order
     * @throws IOException if they cannot be used; then the former ones stay in use
     */
    void use(List<ByteString> contents) throws IOException;
  }

  private static final Logger LOGGER = System.getLogger(ChangingFiles.class.getName());

  private final String what;
  private final List<Path> files;
  private final Set<Path> secrets;
  private final User user;
  private List<ByteString> contents; // when they were last read
  private String failure = ""; // of the last attempt to read them; empty if it succeeded

  /**
   * Reads the files, and uses their contents.
   *
   * @param what the files are, for log lines, in the plural
   * @param secrets those of the files that other users must not be able to read or change
   * @throws IOException if a file cannot be read or used
   */
  public ChangingFiles(String what, List<Path> files, Set<Path> secrets, User user)
      throws IOException {
    this.what = what;
    this.files = List.copyOf(files);
    this.secrets = Set.copyOf(secrets);
    this.user = user;
    contents = read();
    user.use(contents);
  }

  /**
   * Reads the files again if their contents have changed. If they cannot be used, for example
   * because only one of them is written yet, logs so once and keeps the former contents in use.
   */
  public synchronized void refresh() {
    try {
      final List<ByteString> found = read();
      if (!found.equals(contents)) {
        contents = found; // also if they cannot be used, which is reported once
        user.use(found);
        LOGGER.log(Level.INFO, "{0} were read again: {1}", what, files);
      }
      failure = "";
    } catch (IOException e) {
      if (!failure.equals(e.toString())) {
        failure = e.toString();
        LOGGER.log(Level.WARNING, "the former {0} stay in use: {1}", what, e.getMessage());
      }
    }
  }

  private List<ByteString> read() throws IOException {
    for (final Path secret : secrets) {
      checkSecret(secret);
    }
    final List<ByteString> read = new ArrayList<>();
    for (final Path file : files) {
      read.add(ByteString.copyFrom(Files.readAllBytes(file)));
    }
    return read;
  }

  /**
   * Refuses a secret that other users can read, as ssh does.
   *
   * @throws IOException if they can read or change it
   */
  public static void checkSecret(Path file) throws IOException {
    final PosixFileAttributeView view =
        Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (view != null) {
      final Set<PosixFilePermission> permissions = view.readAttributes().permissions();
      if (permissions.contains(PosixFilePermission.OTHERS_READ)
          || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
        throw new IOException(
            "other users can read or change the file, so it is not used: chmod o= " + file);
      }
    }
  }
}

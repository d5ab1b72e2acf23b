package dev.ringfetch.examples.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A directory for the child processes of this program. It is deleted on close, or at the end of the
 * JVM, if a signal ends it. Thread-safe.
 */
public final class TemporaryDirectory implements AutoCloseable {
  private static final int CHILDREN_END_SECONDS = 10;

  private final Path path;
  private final Thread hook = new Thread(this::deleteAfterChildren, "temporary-directory");

  /** Creates a directory below that of the system's temporary files. */
  public TemporaryDirectory(String prefix) throws IOException {
    this(Path.of(System.getProperty("java.io.tmpdir")), prefix);
  }

  /** Creates a directory below another one. */
  public TemporaryDirectory(Path parent, String prefix) throws IOException {
    path = Files.createTempDirectory(parent, prefix);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Where it is. */
  public Path path() {
    return path;
  }

  /** Waits for the children, which other hooks end: they may still create files. */
  private void deleteAfterChildren() {
    final CompletableFuture<?>[] ends =
        ProcessHandle.current()
            .children()
            .map(ProcessHandle::onExit)
            .toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(ends)
        .completeOnTimeout(null, CHILDREN_END_SECONDS, TimeUnit.SECONDS)
        .join();
    try {
      delete();
    } catch (IOException e) {
      System.err.println("cannot delete " + path + ": " + e);
    }
  }

  private synchronized void delete() throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    try (Stream<Path> files = Files.walk(path)) {
      for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @Override
  public void close() throws IOException {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the JVM ends: the hook deletes it
    }
    delete();
  }
}

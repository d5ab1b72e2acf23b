package dev.ringfetch.benchmarks.stores;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The bytes that a file has of its file system, without holes: the JDK does not tell them. */
final class DiskUse {
  private DiskUse() {}

  /** Asks {@code du}. */
  static long of(Path file) {
    try {
      final Process du =
          new ProcessBuilder("du", "--block-size=1", file.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      final String said = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return Long.parseLong(said.split("\\s", 2)[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NumberFormatException e) {
      throw new IllegalStateException("du does not say what is used: file=" + file, e);
    }
  }
}

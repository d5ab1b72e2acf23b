package dev.ringfetch.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** A directory of the test's own on memory, as applications use it. */
public final class ShmTempDirFactory implements TempDirFactory {
  private static final Path SHM = Path.of("/dev/shm");

  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension)
      throws IOException {
    return Files.createTempDirectory(SHM, "rf-");
  }
}

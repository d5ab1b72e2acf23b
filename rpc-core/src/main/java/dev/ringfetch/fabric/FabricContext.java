package dev.ringfetch.fabric;

import java.nio.file.Path;

/**
 * Options of a fabric. Setters return this; a context is not changed once a fabric was opened with
 * it.
 */
public final class FabricContext {
  /** Name of the system property that sets {@link #directory()}. */
  public static final String DIRECTORY_PROP_NAME = "ringfetch.shm.directory";

  /** Default of {@link #directory()}: memory-backed on every Linux. */
  public static final String DIRECTORY_DEFAULT = "/dev/shm";

  private Path directory = Path.of(directoryProperty());

  /** A context of its own with the same options. */
  public FabricContext copy() {
    return new FabricContext().directory(directory);
  }

  /**
   * The property, or the default. An empty value counts as unset: it would name the working
   * directory.
   */
  private static String directoryProperty() {
    final String property = System.getProperty(DIRECTORY_PROP_NAME, "");
    return property.isBlank() ? DIRECTORY_DEFAULT : property;
  }

  /** Directory below which the {@code shm} fabric keeps its files; one directory a user. */
  public Path directory() {
    return directory;
  }

  /** Sets {@link #directory()}. */
  public FabricContext directory(Path directory) {
    this.directory = directory;
    return this;
  }
}

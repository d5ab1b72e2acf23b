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
  private boolean sweeps = true;

  /** A context of its own with the same options. */
  public FabricContext copy() {
    return new FabricContext().directory(directory).sweeps(sweeps);
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

  /** Whether opening removes the files that dead processes have left. Default true. */
  public boolean sweeps() {
    return sweeps;
  }

  /** Sets {@link #sweeps()}. False for a fabric that reads alone, and is one of many. */
  public FabricContext sweeps(boolean sweeps) {
    this.sweeps = sweeps;
    return this;
  }
}

package dev.ringfetch.examples.process;

import dev.ringfetch.rpc.RingChannelBuilder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that say what a ring is made of; a program hands them on to its processes. */
public final class Rings {
  @Option(
      names = "--fabric",
      paramLabel = "NAME",
      description = "What rings are made of: shm, verbs. Default: the best that there is.")
  private String fabric;

  @Option(
      names = "--shm-directory",
      paramLabel = "PATH",
      description = "Directory of shared memory. Default: /dev/shm.")
  private Path shmDirectory;

  /** True if a fabric was asked for by this name. */
  public boolean isOver(String name) {
    return name.equals(fabric);
  }

  /** The same options, for a process. */
  public List<String> arguments() {
    final List<String> arguments = new ArrayList<>();
    if (fabric != null) {
      arguments.addAll(List.of("--fabric", fabric));
    }
    if (shmDirectory != null) {
      arguments.addAll(List.of("--shm-directory", shmDirectory.toString()));
    }
    return arguments;
  }

  /** Has a channel heed them. */
  public void apply(RingChannelBuilder builder) {
    if (fabric != null) {
      builder.fabrics(fabric);
    }
    if (shmDirectory != null) {
      builder.shmDirectory(shmDirectory);
    }
  }
}

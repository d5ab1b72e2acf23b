package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.TemporaryDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A pod, as far as rings can tell: its containers have namespaces of their own for processes,
 * mounts, IPC and host names, the same user and network, and one volume in memory, which each has
 * as its {@code /dev/shm}.
 */
final class Pod implements AutoCloseable {
  private static final Path MEMORY = Path.of("/dev/shm");

  /** For JVMs that all are process 1, and have one {@code /tmp} unlike those of a real pod. */
  static final List<String> FLAGS = List.of("-XX:-UsePerfData");

  private final TemporaryDirectory volume = new TemporaryDirectory(MEMORY, "pod-");

  Pod() throws IOException {}

  /** The command that starts a container with the command behind it; needs the right to mount. */
  List<String> launcher() {
    return List.of(
        "unshare",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "--mount",
        "--ipc",
        "--uts",
        "sh",
        "-c",
        "mount --bind \"$0\" " + MEMORY + " && exec \"$@\"",
        volume.path().toString());
  }

  /** Id of the process in a container, as it is known outside. */
  static long pid(ChildProcess container) {
    return ProcessHandle.of(container.pid())
        .flatMap(launcher -> launcher.children().findFirst())
        .orElseThrow()
        .pid();
  }

  /** Length of all files in the volume, in bytes. */
  long bytes() throws IOException {
    try (Stream<Path> files = Files.walk(volume.path())) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Override
  public void close() throws IOException {
    volume.close();
  }
}

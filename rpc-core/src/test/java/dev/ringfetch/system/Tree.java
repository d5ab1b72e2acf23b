package dev.ringfetch.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What there is below a directory. */
public final class Tree {
  /** Depth of the directory that all processes of one user share; it stays. */
  private static final int SHARED = 1;

  private Tree() {}

  /** Everything that belongs to some other process, as paths below the directory. */
  static List<String> filesOfOthers(Path directory) throws IOException {
    final String mine = "/" + ProcessHandle.current().pid() + "-";
    return files(directory).stream().filter(file -> !file.contains(mine)).toList();
  }

  /** Everything that belongs to some process, as paths below the directory. */
  public static List<String> files(Path directory) throws IOException {
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.map(directory::relativize)
          .filter(path -> path.getNameCount() > SHARED)
          .map(Path::toString)
          .sorted()
          .toList();
    }
  }
}

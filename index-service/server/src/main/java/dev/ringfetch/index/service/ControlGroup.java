package dev.ringfetch.index.service;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A control group of Linux that limits the memory of this process, of version 1 or 2 of these
 * groups.
 *
 * @param directory of the group's files
 * @param limit in bytes
 * @param used bytes that the kernel cannot reclaim: all but the cache of files that are not in
 *     memory alone
 */
record ControlGroup(Path directory, long limit, long used) {
  /** Version 1 has a number near the largest one where there is no limit. */
  private static final long NO_LIMIT = 1L << 60;

  /** The names of a group's files in the two versions. */
  private enum Version {
    ONE("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    TWO("memory.max", "memory.current", "");

    private final String limit;
    private final String usage;
    private final String prefix;

    Version(String limit, String usage, String prefix) {
      this.limit = limit;
      this.usage = usage;
      this.prefix = prefix;
    }
  }

  /**
   * The groups around this process that have a limit, the innermost first; none where the system
   * does not say.
   *
   * @param root directory of the system's files
   */
  static List<ControlGroup> around(Path root) {
    final List<ControlGroup> groups = new ArrayList<>();
    final Path file = root.resolve("proc/self/cgroup");
    try {
      for (final String line : Files.readAllLines(file)) {
        final String[] parts = line.split(":", 3); // number, controllers, path
        if (parts.length == 3 && parts[1].isEmpty()) {
          add(groups, Version.TWO, root, parts[2]);
        } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
          add(groups, Version.ONE, root, parts[2]);
        }
      }
    } catch (IOException e) {
      return HostMemory.unknown(file, e, List.of());
    }
    return groups;
  }

  /** Adds the groups of a hierarchy, from the one at the path up to the mounted one. */
  private static void add(List<ControlGroup> groups, Version version, Path root, String path)
      throws IOException {
    for (final String line : Files.readAllLines(root.resolve("proc/self/mountinfo"))) {
      final String[] halves = line.split(" - ", 2);
      final String[] mount = halves[0].split(" ", -1);
      final String[] source = halves.length == 2 ? halves[1].split(" ", -1) : new String[0];
      if (mount.length < 5 || source.length < 3 || !isOf(version, source)) {
        continue;
      }
      final Path top = root.resolve(mount[4].substring(1));
      // In a container the path may be that of the host, of which only the end is mounted.
      final String below = path.startsWith(mount[3]) ? path.substring(mount[3].length()) : "";
      Path group = top.resolve(below.replaceFirst("^/+", "")).normalize();
      if (!group.startsWith(top) || !Files.isDirectory(group)) {
        group = top;
      }
      for (; group.startsWith(top); group = group.getParent()) {
        read(groups, version, group);
      }
    }
  }

  private static boolean isOf(Version version, String[] source) {
    return version == Version.TWO
        ? source[0].equals("cgroup2")
        : source[0].equals("cgroup") && List.of(source[2].split(",")).contains("memory");
  }

  private static void read(List<ControlGroup> groups, Version version, Path group) {
    final Path file = group.resolve(version.limit);
    if (!Files.isReadable(file)) {
      return; // as the outermost group of version 2
    }
    try {
      final long limit = number(Files.readString(file));
      if (limit < NO_LIMIT) {
        final long usage = number(Files.readString(group.resolve(version.usage)));
        groups.add(new ControlGroup(group, limit, Math.max(0, usage - reclaimed(version, group))));
      }
    } catch (IOException | NumberFormatException e) {
      HostMemory.unknown(file, e, null);
    }
  }

  private static long reclaimed(Version version, Path group) throws IOException {
    long bytes = 0;
    for (final String line : Files.readAllLines(group.resolve("memory.stat"))) {
      final String[] parts = line.split(" ", -1);
      if (parts[0].equals(version.prefix + "inactive_file")
          || parts[0].equals(version.prefix + "active_file")) {
        bytes += number(parts[1]);
      }
    }
    return bytes;
  }

  private static long number(String text) {
    final String stripped = text.strip();
    return stripped.equals("max") ? Long.MAX_VALUE : Long.parseLong(stripped);
  }

  @Override
  public String toString() {
    return HostMemory.mebibytes(limit) + " (" + directory + ")";
  }
}

package dev.ringfetch.index.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A directory of backups, each of which has the time of its begin as its name, such as {@code
 * 2026-11-29T030000Z}. What has another name is left alone.
 *
 * @param directory of the backups
 * @param clock names the next one
 */
record BackupSeries(Path directory, Clock clock) {
  private static final Pattern NAME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d{6}Z");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** Creates the directory if it is absent. */
  static BackupSeries open(Path directory, Clock clock) throws IOException {
    Files.createDirectories(directory);
    return new BackupSeries(directory, clock);
  }

  /** Path of the next backup. */
  Path next() {
    return directory.resolve(TIME.format(clock.instant()));
  }

  /**
   * Deletes all but the newest backups, and what failed ones have left.
   *
   * @return the number of whole ones among them
   */
  int prune(int kept) throws IOException {
    final List<Path> whole = new ArrayList<>();
    try (Stream<Path> found = Files.list(directory)) {
      for (final Path one : found.filter(BackupSeries::isOne).sorted().toList()) {
        if (Files.exists(one.resolve("identity"))) { // which a copy gets last
          whole.add(one);
        } else {
          delete(one);
        }
      }
    }
    final List<Path> old = whole.subList(0, Math.max(0, whole.size() - kept));
    for (final Path one : old) {
      delete(one);
    }
    return old.size();
  }

  private static boolean isOne(Path path) {
    return Files.isDirectory(path) && NAME.matcher(path.getFileName().toString()).matches();
  }

  private static void delete(Path backup) throws IOException {
    try (Stream<Path> files = Files.list(backup)) {
      for (final Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(backup);
  }
}

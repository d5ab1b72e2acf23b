package dev.ringfetch.index.cli;

import dev.ringfetch.index.service.Backup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
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
   * Deletes all but the newest backups, and what one that failed has left a day ago. A directory
   * that a server uses, or has used, is no backup any more, and stays.
   *
   * @return the number of whole ones that it deleted
   */
  int prune(int kept) throws IOException {
    final List<Path> whole = new ArrayList<>();
    try (Stream<Path> found = Files.list(directory)) {
      for (final Path one : found.filter(BackupSeries::isOne).sorted().toList()) {
        if (Files.exists(one.resolve("identity"))) { // which a copy gets last
          whole.add(one);
        } else if (isLeft(one)) {
          delete(one);
        }
      }
    }
    int deleted = 0;
    for (final Path one : whole.subList(0, Math.max(0, whole.size() - kept))) {
      deleted += Backup.delete(one) ? 1 : 0;
    }
    return deleted;
  }

  /** Whether nobody has written to an unfinished backup for a day. */
  private boolean isLeft(Path backup) throws IOException {
    final Instant before = clock.instant().minus(1, ChronoUnit.DAYS);
    try (Stream<Path> files = Files.list(backup)) {
      for (final Path file : Stream.concat(Stream.of(backup), files).toList()) {
        if (Files.getLastModifiedTime(file).toInstant().isAfter(before)) {
          return false;
        }
      }
    }
    return true;
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

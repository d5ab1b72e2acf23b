package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rounds of a run of {@link IndexBench}, in memory and in a file: a line a round, with row,
 * peer and figures. An interrupted run goes on with those that were written whole.
 */
final class IndexLog implements AutoCloseable {
  private static final String SETTINGS = "settings";
  private static final String LOCK = "lock";
  private static final String ROUNDS = "rounds.log";
  private static final String SEPARATOR = "\t";

  private final Path folder;
  private final FileChannel lock; // locked while it is open: two runs would measure one another
  private final Map<String, Map<String, List<Answer>>> rounds = new LinkedHashMap<>();

  private IndexLog(Path folder, FileChannel lock) {
    this.folder = folder;
    this.lock = lock;
  }

  /**
   * Opens a folder, which is created if need be.
   *
   * @param resume whether there are rounds in it.
   * @param settings the settings that all rounds must share, in one line.
   * @throws IllegalArgumentException if the folder does not fit, with the reason.
   */
  static IndexLog open(Path folder, boolean resume, String settings) throws IOException {
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw new IllegalArgumentException(folder + " is no folder");
    }
    if (resume && !Files.exists(folder.resolve(SETTINGS))) {
      throw new IllegalArgumentException(folder + " has no rounds to go on with");
    }
    Files.createDirectories(folder);
    final FileChannel lock =
        FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean opened = false;
    try {
      if (!isLocked(lock)) {
        throw new IllegalArgumentException(folder + " is in use by a run that goes on");
      }
      begin(folder, resume, settings);
      final IndexLog log = new IndexLog(folder, lock);
      log.read();
      opened = true;
      return log;
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  /** Until the channel is closed, or the process has ended. */
  private static boolean isLocked(FileChannel lock) throws IOException {
    try {
      return lock.tryLock() != null;
    } catch (OverlappingFileLockException e) { // by this process
      return false;
    }
  }

  private static void begin(Path folder, boolean resume, String settings) throws IOException {
    final Path file = folder.resolve(SETTINGS);
    if (!Files.exists(file)) {
      Files.writeString(file, settings + "\n");
      return;
    }
    final String before = Files.readString(file).strip();
    if (!resume) {
      throw new IllegalArgumentException(folder + " has rounds: --resume goes on with them");
    }
    if (!before.equals(settings)) {
      throw new IllegalArgumentException(
          folder + " has rounds with other settings: " + before + " instead of " + settings);
    }
  }

  /** Reads what there is; cuts a line off that is not whole. */
  private void read() throws IOException {
    final Path file = folder.resolve(ROUNDS);
    if (!Files.exists(file)) {
      return;
    }
    final String text = Files.readString(file, StandardCharsets.ISO_8859_1); // a byte a character
    final int end = text.lastIndexOf('\n') + 1;
    if (end < text.length()) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(end);
      }
    }
    text.substring(0, end)
        .lines()
        .forEach(
            line -> {
              final String[] parts = line.split(SEPARATOR, 3);
              if (parts.length != 3) {
                throw new IllegalArgumentException(file + " is damaged: " + line);
              }
              of(parts[0], parts[1]).add(Answer.parse(parts[2]));
            });
  }

  private List<Answer> of(String row, String peer) {
    return rounds
        .computeIfAbsent(row, absent -> new LinkedHashMap<>())
        .computeIfAbsent(peer, absent -> new ArrayList<>());
  }

  /** The rounds of a row and a peer, in their order; none if it was not measured. */
  List<Answer> rounds(IndexRow row, String peer) {
    return List.copyOf(rounds.getOrDefault(row.text(), Map.of()).getOrDefault(peer, List.of()));
  }

  /** The peers that have rounds of a row. */
  List<String> peers(IndexRow row) {
    return List.copyOf(rounds.getOrDefault(row.text(), Map.of()).keySet());
  }

  /** All rounds. */
  List<Answer> all() {
    return rounds.values().stream()
        .flatMap(peers -> peers.values().stream())
        .flatMap(List::stream)
        .toList();
  }

  /** Adds a round, at once, so that a run that is interrupted leaves whole rounds. */
  void add(IndexRow row, String peer, Answer round) throws IOException {
    Files.writeString(
        folder.resolve(ROUNDS),
        String.join(SEPARATOR, row.text(), peer, round.toString()) + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
    of(row.text(), peer).add(round);
  }

  /** Writes a file with the results. */
  void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}

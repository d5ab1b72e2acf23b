package dev.ringfetch.examples.broker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A record that a process has seen, as a line of its file says: a producer writes those that were
 * acknowledged, a consumer those that it read. What a process has written outlives its kill.
 *
 * @param sequence of the record among those of its producer.
 */
record SeenRecord(int partition, long offset, String producer, long sequence) {
  /** The line of a consumer before its first record of new partitions. */
  static final String ASSIGNED = "assigned";

  String line() {
    return partition + " " + offset + " " + producer + " " + sequence + "\n";
  }

  /** The records of a file, in parts: each begins with an assignment. */
  static List<List<SeenRecord>> read(Path file) throws IOException {
    final List<List<SeenRecord>> parts = new ArrayList<>(List.of(new ArrayList<>()));
    final String text = Files.readString(file, StandardCharsets.UTF_8);
    final int end = text.lastIndexOf('\n'); // a killed process may leave a part of a line
    for (final String line : text.substring(0, Math.max(end, 0)).split("\n", 0)) {
      final String[] words = line.split(" ", 0);
      if (line.equals(ASSIGNED)) {
        parts.add(new ArrayList<>());
      } else if (words.length == 4) {
        parts
            .get(parts.size() - 1)
            .add(
                new SeenRecord(
                    Integer.parseInt(words[0]),
                    Long.parseLong(words[1]),
                    words[2],
                    Long.parseLong(words[3])));
      }
    }
    return parts;
  }
}

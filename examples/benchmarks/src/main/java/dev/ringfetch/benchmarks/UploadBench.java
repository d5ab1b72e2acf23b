package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.BulkBench.Schedule;
import dev.ringfetch.benchmarks.bulk.Transfer;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

/** A benchmark of bulk one way, by size of the message: bytes in a second of each transport. */
final class UploadBench {
  private static final int KIBIBYTE = 1024;
  private static final int MEBIBYTE = KIBIBYTE * KIBIBYTE;
  private static final int UNARY_LENGTH = MEBIBYTE;
  private static final String RAW = "raw";

  private final BulkProcesses processes;
  private final Schedule schedule;
  private final Marks marks;
  private final List<Row> rows = new ArrayList<>();

  UploadBench(BulkProcesses processes, Schedule schedule, Marks marks) {
    this.processes = processes;
    this.schedule = schedule;
    this.marks = marks;
  }

  /**
   * A contender that sends messages.
   *
   * @param upload sends messages of some length for some milliseconds.
   */
  private record Entrant(
      String peer, String mode, BiFunction<Integer, Integer, Costed<Transfer>> upload) {}

  /** The results. */
  private record Row(Entrant entrant, int length, Spread gigabytes) {}

  /** Makes all contenders send messages of one length, by turns. */
  void measure(int length) {
    final List<Entrant> entrants = entrants(length);
    System.err.printf("uploading messages of %s: %d ways%n", text(length), entrants.size());
    for (final Entrant entrant : entrants) {
      final Costed<Transfer> unused = entrant.upload.apply(length, schedule.warmUp());
    }
    Turns.take(
            entrants,
            schedule.rounds(),
            (entrant, round) -> marks.counted(entrant.upload.apply(length, schedule.millis())))
        .forEach(
            (entrant, transfers) ->
                rows.add(
                    new Row(entrant, length, Spread.of(transfers, Transfer::gigabytesPerSecond))));
  }

  private List<Entrant> entrants(int length) {
    final List<Entrant> entrants = new ArrayList<>();
    processes
        .lanes()
        .forEach(
            (kind, lane) -> {
              if (length <= kind.maxMessageLength()) {
                entrants.add(
                    new Entrant(
                        kind.name(),
                        "memory",
                        (bytes, millis) ->
                            Costed.measure(
                                lane.sender(),
                                lane.receiver(),
                                () -> lane.transfer(bytes, millis))));
              }
            });
    processes
        .pairs()
        .forEach(
            (executors, pair) -> {
              for (final Contender contender : pair.contenders()) {
                for (final String way : ways(contender, length)) {
                  entrants.add(
                      new Entrant(
                          contender.name(),
                          way + "-" + executors.text(),
                          (bytes, millis) ->
                              Costed.measure(
                                  pair.client(contender),
                                  pair.server(),
                                  () ->
                                      Transfer.parse(
                                          pair.ask(contender, "upload", way, bytes, millis)))));
                }
              }
            });
    return entrants;
  }

  /** How messages of some length are sent: unary calls show what one size does. */
  private static List<String> ways(Contender contender, int length) {
    final List<String> ways = new ArrayList<>();
    ways.add(BenchClient.STREAM_UPLOAD);
    if (length == UNARY_LENGTH) {
      ways.add(BenchClient.UNARY_UPLOAD);
    }
    if (contender == Contender.ring) {
      ways.add(BenchClient.IN_PLACE_UPLOAD);
    }
    return ways;
  }

  private static String text(int length) {
    if (length % MEBIBYTE == 0) {
      return length / MEBIBYTE + " MiB";
    }
    return length % KIBIBYTE == 0 ? length / KIBIBYTE + " KiB" : length + " B";
  }

  /** Prints what was measured: for people, then for scripts. */
  void print(PrintStream out) {
    if (rows.isEmpty()) {
      return;
    }
    out.printf(
        "%nGB/s (1e9 bytes of payload a second) from client to server; stream: one call that sends"
            + " them all;%nunary: one call at a time; agrona: 64 MiB would need a ring of 512 MiB,"
            + " and is left out%n%n");
    out.printf(
        "%-9s %-7s %-15s %-24s %12s %7s%n", "message", "peer", "mode", "GB/s", "us", "of raw");
    for (final Row row : rows) {
      out.printf(
          Locale.ROOT,
          "%-9s %-7s %-15s %-24s %,12.1f %7s%n",
          text(row.length),
          row.entrant.peer,
          row.entrant.mode,
          row.gigabytes.text(2),
          row.length / row.gigabytes.median() / 1_000,
          raw(row.length) > 0
              ? String.format(Locale.ROOT, "%.3f", row.gigabytes.median() / raw(row.length))
              : "");
    }
    out.println();
    for (final Row row : rows) {
      out.printf(
          Locale.ROOT,
          "RESULT peer=%s mode=%s payload=%d gb_s=%.3f best=%.3f%n",
          row.entrant.peer,
          row.entrant.mode,
          row.length,
          row.gigabytes.median(),
          row.gigabytes.most());
    }
  }

  /** The rate of memory alone with such messages, or 0. */
  private double raw(int length) {
    return rows.stream()
        .filter(row -> row.length == length && row.entrant.peer.equals(RAW))
        .mapToDouble(row -> row.gigabytes.median())
        .findFirst()
        .orElse(0);
  }
}

package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.JournalDescription;
import java.time.Duration;
import java.util.Locale;

/** The state of a server's journal and disk, as lines and as JSON. */
final class JournalReport {
  private JournalReport() {}

  /** Prints the state of a server that keeps indexes on disk; nothing for other servers. */
  static void print(DescribeServerResponse server, boolean json, Output out) {
    if (!server.hasJournal()) {
      return;
    }
    final JournalDescription journal = server.getJournal();
    if (json) {
      printJson(server, journal, out);
      return;
    }
    final long syncs = Math.max(1, journal.getSyncs());
    out.line(
        String.format(
            Locale.ROOT,
            "journal: %s syncs, %.2f ms each, %.1f ms the longest; %.1f records each",
            Printable.number(journal.getSyncs()),
            journal.getSyncNs() / 1e6 / syncs,
            journal.getLongestSyncNs() / 1e6,
            (double) journal.getRecords() / syncs));
    out.line(
        "snapshot: "
            + (journal.getSnapshot() == 0
                ? "none"
                : journal.getSnapshot()
                    + ", "
                    + TimeSpan.text(Duration.ofSeconds(journal.getSnapshotAgeMs() / 1000))
                    + " old")
            + "; "
            + Printable.bytes(journal.getUnsnapshottedBytes())
            + " of journal since");
    warn("the last snapshot failed", journal.getSnapshotObstacle(), out);
    warn("the disk refuses writes, or soon will", server.getObstacle(), out);
    warn("writes to indexes on disk have ended", server.getWritingEnded(), out);
  }

  private static void warn(String what, String why, Output out) {
    if (!why.isEmpty()) {
      out.line("WARNING: " + what + ": " + why);
    }
  }

  private static void printJson(
      DescribeServerResponse server, JournalDescription journal, Output out) {
    out.object()
        .text("incarnation", Long.toHexString(server.getIncarnation()))
        .text("data_directory", server.getDataDirectory())
        .text("writing_ended", server.getWritingEnded())
        .text("obstacle", server.getObstacle())
        .number("syncs", journal.getSyncs())
        .number("sync_ns", journal.getSyncNs())
        .number("longest_sync_ns", journal.getLongestSyncNs())
        .number("records", journal.getRecords())
        .number("bytes", journal.getBytes())
        .number("waiting_ns", journal.getWaitingNs())
        .number("unsnapshotted_bytes", journal.getUnsnapshottedBytes())
        .number("snapshot", journal.getSnapshot())
        .number("snapshot_age_ms", journal.getSnapshotAgeMs())
        .text("snapshot_obstacle", journal.getSnapshotObstacle())
        .number("recovery_ns", journal.getRecoveryNs())
        .number("recovered_records", journal.getRecoveredRecords())
        .end();
  }
}

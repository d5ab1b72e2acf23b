package dev.ringfetch.index.cli;

import dev.ringfetch.index.service.OfflineIndexes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command that reads a data directory as a server does at its start, and reports errors. */
@Command(
    name = "verify",
    description = {
      "Check a data directory that no server uses.",
      "It reads all, as a start does, and changes nothing.",
      "Exit code 1 if anything is damaged: 'salvage' finds what is left."
    })
final class VerifyCommand extends OfflineCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "Data directory of a server.")
  private Path directory;

  VerifyCommand(Session session) {
    super(session);
  }

  @Override
  int run(Output out) throws IOException {
    try (OfflineIndexes found = OfflineIndexes.open(directory, memory())) {
      if (isJson()) {
        printJson(found, out);
      } else {
        print(found, out);
      }
      return found.faults().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }
  }

  private static void printJson(OfflineIndexes found, Output out) {
    out.object()
        .text("id", found.id())
        .number("incarnation", found.incarnation())
        .number("segments", found.segments())
        .number("snapshot", found.snapshot())
        .number("records", found.records())
        .number("unfinished_bytes", found.unfinishedBytes())
        .flag("ended_in_order", found.isClean())
        .number("faults", found.faults().size())
        .end();
    for (final OfflineIndexes.Found index : found.found()) {
      out.object()
          .text("index", index.name())
          .text("kind", word(index.kind()))
          .text("durability", word(index.durability()))
          .number("entries", index.entries())
          .end();
    }
    found.notes().forEach(note -> out.object().text("note", note).end());
    found.faults().forEach(fault -> out.object().text("fault", fault).end());
  }

  private void print(OfflineIndexes found, Output out) {
    out.line(
        "data directory "
            + found.id()
            + ", last server "
            + found.incarnation()
            + (found.isClean() ? ", ended in order" : ", did not end in order"));
    out.line(
        "journal: "
            + Printable.number(found.segments())
            + (found.segments() == 1 ? " segment, " : " segments, ")
            + (found.snapshot() == 0 ? "" : "from snapshot " + found.snapshot() + ", ")
            + Printable.number(found.records())
            + (found.records() == 1 ? " record" : " records"));
    if (found.unfinishedBytes() > 0) {
      out.line(
          Printable.bytes(found.unfinishedBytes())
              + " at its end are unfinished: nothing of it was answered, a start cuts it off");
    }
    found.notes().forEach(out::line);
    final TextTable table = new TextTable("lllr").row("INDEX", "KIND", "DURABILITY", "ENTRIES");
    for (final OfflineIndexes.Found index : found.found()) {
      table.row(
          Printable.escape(index.name()),
          word(index.kind()),
          word(index.durability()),
          Printable.number(index.entries()));
    }
    if (!found.found().isEmpty()) {
      table.print(out, 0);
    }
    found.faults().forEach(fault -> out.line("FAULT: " + fault));
    out.line(found.faults().isEmpty() ? "sound" : "a server starts on it all the same");
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}

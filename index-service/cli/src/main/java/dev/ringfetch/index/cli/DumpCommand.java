package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.Scan;
import dev.ringfetch.index.client.ScanIterator;
import dev.ringfetch.index.service.OfflineIndexes;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.zip.GZIPOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that writes the entries of an index to a file. */
@Command(
    name = "dump",
    description = {
      "Write entries as CSV or JSON lines, which load reads back.",
      "dump DIR [FILE] reads the data directory of a server that has ended."
    })
final class DumpCommand extends ClientCommand {
  /** How long a snapshot may be read. */
  static final Duration SNAPSHOT_LIFETIME = Duration.ofMinutes(30);

  /** Limit of index memory for the indexes of a data directory. */
  private static final long MEMORY = 64L << 30; // allocated on demand

  private static final int BUFFER = 1 << 16;
  private static final int PROGRESS_ENTRIES = 1_000;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "FILE",
      defaultValue = "-",
      description = "File to write; - is stdout. Default: -.")
  private String file;

  @Parameters(index = "1", arity = "0..1", hidden = true)
  private String second;

  /** The data directory to read; null to read from a server. */
  private Path directory;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "csv or jsonl. Default: by the name, or csv.")
  private FileFormat format;

  @Mixin private RangeOptions range;

  @Option(names = "--snapshot", description = "All entries as of one moment.")
  private boolean snapshot;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private Range<ByteString> dumped;

  DumpCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    dumped = range.range(types);
    if (Files.isRegularFile(Path.of(file, "identity"))) {
      directory = Path.of(file);
      file = second == null ? "-" : second;
    } else if (second != null) {
      throw CommandFailure.misuse(
          "one operand too many: " + second + ": " + file + " is not a data directory");
    }
  }

  @Override
  boolean isChanging() {
    return !file.equals("-");
  }

  @Override
  boolean isOffline() {
    return directory != null;
  }

  @Override
  int runOffline(Output out) throws IOException {
    if (range.isGiven() || snapshot) {
      throw CommandFailure.misuse("a data directory is dumped as a whole, as of its server's end");
    }
    final String name = index.name(session());
    try (OfflineIndexes indexes = OfflineIndexes.open(directory, MEMORY)) {
      if (indexes.found().stream().noneMatch(found -> found.name().equals(name))) {
        throw new CommandFailure(
            ExitCode.NOT_FOUND, "no durable index '" + name + "' in " + directory);
      }
      return dump(writer -> walk(indexes, name, writer), out);
    }
  }

  private long walk(OfflineIndexes indexes, String name, EntryWriter writer) throws IOException {
    final long[] count = new long[1];
    indexes.walk(
        name,
        entry -> {
          writer.write(
              entry.getKey(),
              entry.getValue(),
              entry.getDeadlineMs() == 0
                  ? Optional.empty()
                  : Optional.of(Instant.ofEpochMilli(entry.getDeadlineMs())));
          count[0]++;
          return !stop().isRequested();
        });
    return count[0];
  }

  @Override
  int run(Connection connection, Output out) throws IOException {
    final String name = index.name(session());
    final IndexDescription found = connection.require(name);
    if (!range.isGiven() && !snapshot && found.getKind() == IndexKind.HASH) {
      final HashIndex<ByteString, ByteString> view = connection.hash(name);
      return dump(writer -> write(view.scan(), view::count, writer), out);
    }
    final OrderedIndex<ByteString, ByteString> view =
        connection.requireOrdered(found, "a range or a snapshot");
    final Scan<IndexEntry<ByteString, ByteString>> scan = view.scan(dumped);
    final Scan<IndexEntry<ByteString, ByteString>> entries =
        snapshot ? scan.snapshot(SNAPSHOT_LIFETIME) : scan;
    return dump(writer -> write(entries, () -> view.count(dumped), writer), out);
  }

  /** The source of the entries of a dump. */
  @FunctionalInterface
  private interface Entries {
    /** Writes all; returns their number. */
    long writeTo(EntryWriter writer) throws IOException;
  }

  private int dump(Entries entries, Output out) throws IOException {
    if (file.equals("-")) {
      entries.writeTo(writer(out));
      return ExitCode.OK;
    }
    final long count = writeFile(entries);
    if (isJson()) {
      out.object()
          .text("index", index.name(session()))
          .text("file", file)
          .number("entries", count)
          .end();
    } else {
      out.line(
          "wrote " + Printable.entries(count) + " of '" + index.name(session()) + "' to " + file);
    }
    return ExitCode.OK;
  }

  /** Writes to a temporary file, and renames it when all entries are written. */
  private long writeFile(Entries entries) throws IOException {
    final Path target = Path.of(file);
    if (Files.exists(target) && !Files.isRegularFile(target)) {
      if (Files.isDirectory(target)) {
        throw new CommandFailure(ExitCode.FAILED, file + ": is a directory, not a file");
      }
      try (OutputStream stream = open(target)) { // a pipe, /dev/null
        return writeTo(stream, entries);
      }
    }
    final Path part = target.resolveSibling(target.getFileName() + ".part");
    boolean done = false;
    try {
      final long count;
      try (OutputStream stream = open(part)) {
        count = writeTo(stream, entries);
      }
      if (stop().isRequested()) {
        throw new CommandFailure(ExitCode.INTERRUPTED, "interrupted: " + file + " is not written");
      }
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
      done = true;
      return count;
    } finally {
      if (!done) {
        Files.deleteIfExists(part);
      }
    }
  }

  private OutputStream open(Path path) throws IOException {
    final OutputStream stream = Files.newOutputStream(path);
    return FileFormat.isGzip(file) ? new GZIPOutputStream(stream, BUFFER) : stream;
  }

  private long writeTo(OutputStream stream, Entries entries) throws IOException {
    final Output output = new Output(stream);
    final long count = entries.writeTo(writer(output));
    output.flush();
    return count;
  }

  private long write(
      Scan<IndexEntry<ByteString, ByteString>> entries, LongSupplier total, EntryWriter writer)
      throws IOException {
    long count = 0;
    try (LoadProgress progress = progress(total);
        ScanIterator<IndexEntry<ByteString, ByteString>> iterator = entries.iterator()) {
      while (!stop().isRequested() && iterator.hasNext()) {
        final IndexEntry<ByteString, ByteString> entry = iterator.next();
        writer.write(entry.key(), entry.value(), entry.deadline());
        count++;
        if (count % PROGRESS_ENTRIES == 0) {
          progress.at(count, "");
        }
      }
      progress.at(count, "");
    }
    return count;
  }

  private LoadProgress progress(LongSupplier total) {
    final Stdio stdio = stdio();
    return stdio.terminals().errors()
            && !isJson()
            && !(file.equals("-") && stdio.terminals().output())
        ? LoadProgress.ofEntries("dump", total.getAsLong(), stdio)
        : LoadProgress.none();
  }

  private EntryWriter writer(Output output) throws IOException {
    final FileFormat named = FileFormat.ofName(file);
    final FileFormat byDefault = isJson() && file.equals("-") ? FileFormat.JSONL : FileFormat.CSV;
    final FileFormat used = format != null ? format : named != null ? named : byDefault;
    return switch (used) {
      case CSV -> new CsvEntryWriter(output, types.keyType(), types.valueType());
      case JSONL ->
          (key, value, deadline) ->
              output
                  .object()
                  .data("key", types.keyType(), key)
                  .data("value", types.valueType(), value)
                  .time(EntryReader.DEADLINE, deadline)
                  .end();
    };
  }
}

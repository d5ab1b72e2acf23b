package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.Scan;
import dev.ringfetch.index.client.ScanIterator;
import dev.ringfetch.index.client.SpatialIndex;
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
import java.util.function.Function;
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
      "Write entries as CSV, JSON lines or GeoJSON, which load reads back.",
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

  private IndexKind kind;

  /** The data directory to read; null to read from a server. */
  private Path directory;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "csv, jsonl or geojson. Default: by name, or csv.")
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
      kind =
          indexes.found().stream()
              .filter(found -> found.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new CommandFailure(
                          ExitCode.NOT_FOUND, "no durable index '" + name + "' in " + directory))
              .kind();
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
    kind = found.getKind();
    final boolean whole = !range.isGiven() && !snapshot;
    if (whole && kind == IndexKind.HASH) {
      final HashIndex<ByteString, ByteString> view = connection.hash(name);
      return dump(
          writer -> write(view.scan().iterator(), value -> value, view::count, writer), out);
    }
    if (whole && kind == IndexKind.SPATIAL) {
      final SpatialIndex<ByteString, ByteString> view = connection.spatial(name);
      return dump(
          writer ->
              write(
                  view.intersecting(Coordinates.EVERYWHERE).iterator(),
                  located -> Coordinates.located(located.box(), located.value()),
                  view::count,
                  writer),
          out);
    }
    final OrderedIndex<ByteString, ByteString> view =
        connection.requireOrdered(found, "a range or a snapshot");
    final Scan<IndexEntry<ByteString, ByteString>> scan = view.scan(dumped);
    final Scan<IndexEntry<ByteString, ByteString>> entries =
        snapshot ? scan.snapshot(SNAPSHOT_LIFETIME) : scan;
    return dump(
        writer -> write(entries.iterator(), value -> value, () -> view.count(dumped), writer), out);
  }

  /** The source of the entries of a dump. */
  @FunctionalInterface
  private interface Entries {
    /** Writes all; returns their number. */
    long writeTo(EntryWriter writer) throws IOException;
  }

  private int dump(Entries entries, Output out) throws IOException {
    if (file.equals("-")) {
      writeTo(out, entries);
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
    final long count = writeTo(output, entries);
    output.flush();
    return count;
  }

  private long writeTo(Output output, Entries entries) throws IOException {
    final EntryWriter writer = writer(output);
    final long count = entries.writeTo(writer);
    writer.end();
    return count;
  }

  private <V> long write(
      ScanIterator<IndexEntry<ByteString, V>> entries,
      Function<V, ByteString> bytes,
      LongSupplier total,
      EntryWriter writer)
      throws IOException {
    long count = 0;
    try (LoadProgress progress = progress(total);
        entries) {
      while (!stop().isRequested() && entries.hasNext()) {
        final IndexEntry<ByteString, V> entry = entries.next();
        writer.write(entry.key(), bytes.apply(entry.value()), entry.deadline());
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
    final boolean boxes = kind == IndexKind.SPATIAL;
    return switch (used) {
      case CSV -> new CsvEntryWriter(output, types.keyType(), types.valueType(), boxes);
      case JSONL -> (key, value, deadline) -> writeLine(output, key, value, deadline, boxes);
      case GEOJSON -> {
        if (!boxes) {
          throw Connection.noBoxes(index.name(session()), kind, used.toString());
        }
        yield new GeoJsonEntryWriter(output, types);
      }
    };
  }

  private void writeLine(
      Output output, ByteString key, ByteString value, Optional<Instant> deadline, boolean boxes) {
    final Output.Json line = output.object().data("key", types.keyType(), key);
    if (boxes) {
      final Box box = Coordinates.box(value);
      line.data("value", types.valueType(), Coordinates.value(value))
          .raw("min_x", Double.toString(box.minX()))
          .raw("min_y", Double.toString(box.minY()))
          .raw("max_x", Double.toString(box.maxX()))
          .raw("max_y", Double.toString(box.maxY()));
    } else {
      line.data("value", types.valueType(), value);
    }
    line.time(EntryReader.DEADLINE, deadline).end();
  }
}

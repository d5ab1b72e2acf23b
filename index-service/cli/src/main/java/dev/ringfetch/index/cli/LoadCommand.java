package dev.ringfetch.index.cli;

import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.cli.EntryReader.Fields;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that writes the entries of a file. */
@Command(name = "load", description = "Write the entries of a CSV, JSON lines or GeoJSON file.")
final class LoadCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "FILE", description = "File to read; - is stdin.")
  private String file;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "csv, jsonl, geojson. Default: by name or content.")
  private FileFormat format;

  @Option(
      names = "--key",
      paramLabel = "FIELD",
      description = "Column, field or number of keys. Default: key.")
  private String key;

  @Option(
      names = "--value",
      paramLabel = "FIELD",
      description = "The same for values. Default: value.")
  private String value;

  @Option(
      names = "--box",
      paramLabel = "FIELDS",
      split = ",",
      hideParamSyntax = true,
      description = "The same for boxes: those of X,Y or X1,Y1,X2,Y2.")
  private List<String> box = List.of();

  @Option(names = "--no-header", description = "CSV without names of columns: 1 and 2.")
  private boolean noHeader;

  @Option(
      names = "--delimiter",
      paramLabel = "CHAR",
      description = "Between columns; tab for a tab. Default: comma.")
  private String delimiter;

  @Option(
      names = "--max-bad",
      paramLabel = "N",
      converter = AtLeast.Zero.class,
      hidden = true) // the help fills its screen
  private Integer maxBad;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      converter = TimeSpan.class,
      description = "Of each entry: 30s. Default: until its deadline.")
  private Duration ttl;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;

  LoadCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    delimiter(FileFormat.CSV);
    if (!List.of(0, 2, 4).contains(box.size())) {
      throw CommandFailure.misuse("--box names two or four fields, not " + box.size());
    }
  }

  private char delimiter(FileFormat used) {
    if (delimiter == null) {
      return FileFormat.isTabbed(file) ? '\t' : ',';
    }
    final String character = delimiter.equals("tab") || delimiter.equals("\\t") ? "\t" : delimiter;
    if (character.length() != 1 || character.charAt(0) >= 0x80 || "\"\r\n".contains(character)) {
      throw CommandFailure.misuse(
          "--delimiter is one ASCII character, or tab, not '" + Printable.shorten(delimiter) + "'");
    }
    if (used != FileFormat.CSV) {
      throw CommandFailure.misuse("--delimiter is for CSV, and this is " + used);
    }
    return character.charAt(0);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) throws IOException {
    final String name = index.name(session());
    try (EntryFile entries = EntryFile.open(file, session())) {
      final EntryReader reader = reader(entries);
      final boolean boxes = reader.hasBoxes();
      final Load load =
          new Load(
              entries,
              () -> connection.async(name, connection.orCreate(name, boxes, stdio())),
              stdio(),
              maxBad == null ? Long.MAX_VALUE : maxBad,
              ttl);
      if (connection.describe(name).isPresent()) {
        load.open(); // its kind may be the wrong one
      }
      try {
        load.run(reader, stop(), isJson());
      } finally {
        report(load, out);
      }
      return load.bad() == 0 ? ExitCode.OK : ExitCode.FAILED;
    }
  }

  private EntryReader reader(EntryFile entries) throws IOException {
    final Fields fields = new Fields(key, value, box, types.keyType(), types.valueType());
    final FileFormat used = format == null ? entries.format() : format;
    final char between = delimiter(used);
    if (used == FileFormat.GEOJSON && !box.isEmpty()) {
      throw CommandFailure.misuse("--box is for CSV and JSON lines, and this is " + used);
    }
    return switch (used) {
      case CSV -> new CsvEntryReader(entries.name(), entries.in(), between, !noHeader, fields);
      case JSONL -> new JsonEntryReader(entries.name(), entries.in(), fields);
      case GEOJSON -> new GeoJsonEntryReader(entries.name(), entries.in(), fields);
    };
  }

  private void report(Load load, Output out) {
    final double seconds = load.seconds();
    final double rate = load.loaded() / Math.max(seconds, 1e-3);
    if (isJson()) {
      out.object()
          .text("index", index.name(session()))
          .text("file", file)
          .number("loaded", load.loaded())
          .number("bad", load.bad())
          .number("ended", load.ended())
          .number("seconds", seconds)
          .number("per_second", rate)
          .end();
      return;
    }
    out.line(
        String.format(
            Locale.ROOT,
            "loaded %s into '%s' in %.1f s (%,.0f/s)%s%s%s",
            Printable.entries(load.loaded()),
            index.name(session()),
            seconds,
            rate,
            load.bad() == 0
                ? ""
                : "; " + Printable.count(load.bad(), "bad line", "bad lines") + " left out",
            load.ended() == 0 ? "" : "; " + Printable.entries(load.ended()) + " had ended",
            stop().isRequested() ? "; interrupted" : ""));
  }
}

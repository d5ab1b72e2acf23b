package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Filter;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.Scan;
import dev.ringfetch.index.client.ScanIterator;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that lists the entries of a range. */
@Command(
    name = "scan",
    description = "List entries (--where FILTER: some). Of boxes: search, nearest.")
final class ScanCommand extends ClientCommand {
  /** Number of lines after which the output is flushed to a terminal. */
  private static final int FLUSHED = 100;

  @Mixin private RangeOptions range;

  @Option(names = "--reverse", description = "From the greatest key to the smallest.")
  private boolean reverse;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      converter = PositiveNumber.class,
      description = "At most so many entries.")
  private Long limit;

  @Option(
      names = "--where",
      paramLabel = "FILTER",
      hidden = true, // the help fills its screen, and its first line names it
      converter = FilterText.Converter.class,
      description = "Only those of a filter: value.int32(8) >= 5.")
  private Filter where;

  @Option(names = "--keys-only", description = "Without values.")
  private boolean keysOnly;

  @Option(names = "--snapshot", description = "All entries as of one moment.")
  private boolean snapshot;

  @Option(names = "--direct", description = "Read the memory of the index, not by calls.")
  private boolean direct;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private Range<ByteString> scanned;

  ScanCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    scanned = range.range(types);
    if (direct && snapshot) {
      throw CommandFailure.misuse("--snapshot is by calls alone: it goes without --direct");
    }
  }

  @Override
  int run(Connection connection, Output out) {
    final String name = index.name(session());
    final IndexDescription found = connection.require(name);
    if (found.getKind() == IndexKind.SPATIAL) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "index '"
              + name
              + "' is spatial and has no order: search lists its entries by their"
              + " boxes, dump all of them");
    }
    final long count;
    if (!range.isGiven() && !reverse && !snapshot && found.getKind() == IndexKind.HASH) {
      final HashIndex<ByteString, ByteString> view = connection.hash(name);
      count = keysOnly ? printKeys(view.keys(), out) : printEntries(view.scan(), out);
    } else {
      final OrderedIndex<ByteString, ByteString> view =
          DirectAccess.of(direct).view(connection.requireOrdered(found, need()));
      count = keysOnly ? printKeys(view.keys(scanned), out) : printEntries(view.scan(scanned), out);
    }
    if (count == 0 && !isJson()) {
      stdio().note("no entry: " + range.text() + " of index '" + name + "'");
    }
    if (direct) {
      DirectAccess.noteCalls(connection, stdio());
    }
    return ExitCode.OK;
  }

  /** The option that needs an order. */
  private String need() {
    return range.isGiven() ? "a range" : reverse ? "--reverse" : "--snapshot";
  }

  private long printKeys(Scan<ByteString> keys, Output out) {
    return each(
        keys,
        out,
        key -> {
          if (isJson()) {
            out.object().data("key", types.keyType(), key).end();
          } else {
            out.line(Printable.escape(types.keyType().show(key)));
          }
        },
        () -> {});
  }

  private long printEntries(Scan<IndexEntry<ByteString, ByteString>> entries, Output out) {
    final TextTable table = new TextTable("ll");
    return each(
        entries,
        out,
        entry -> {
          if (isJson()) {
            out.object()
                .data("key", types.keyType(), entry.key())
                .data("value", types.valueType(), entry.value())
                .number("version", entry.version())
                .time("deadline", entry.deadline())
                .end();
          } else {
            table.row(
                Printable.escape(types.keyType().show(entry.key())),
                Printable.escape(types.valueType().show(entry.value())));
            if (table.isFull()) {
              table.print(out, width());
            }
          }
        },
        () -> table.print(out, width()));
  }

  /** Reads a scan to its end, or until the signal; returns the number of entries or keys. */
  private <T> long each(Scan<T> scan, Output out, Consumer<T> print, Runnable end) {
    Scan<T> settings = reverse ? scan.reverse() : scan;
    settings = limit == null ? settings : settings.limit(limit);
    settings = where == null ? settings : settings.where(where);
    settings = snapshot ? settings.snapshot(DumpCommand.SNAPSHOT_LIFETIME) : settings;
    long count = 0;
    try (ScanIterator<T> iterator = settings.iterator()) {
      while (!stop().isRequested() && iterator.hasNext()) {
        print.accept(iterator.next());
        count++;
        if (count % FLUSHED == 0 && stdio().terminals().output()) {
          out.flush();
        }
      }
    } finally {
      end.run();
    }
    return count;
  }
}

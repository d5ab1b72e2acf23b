package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.Range;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that removes entries. */
@Command(name = "delete", description = "Remove keys, or a range of keys.")
final class DeleteCommand extends ClientCommand {
  @Parameters(arity = "0..*", paramLabel = "KEY", description = "Keys to remove.")
  private List<String> keys = new ArrayList<>();

  @Option(
      names = "--if-version",
      paramLabel = "NUMBER",
      description = "Only if the one key's entry has this version; 1 if not.")
  private Long expected;

  @Mixin private RangeOptions range;

  @Option(names = "--all", description = "All keys of the index.")
  private boolean all;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask at the terminal before a range.")
  private boolean yes;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private final List<ByteString> encoded = new ArrayList<>();
  private Range<ByteString> removed;

  DeleteCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    if ((keys.isEmpty() ? 0 : 1) + (range.isGiven() ? 1 : 0) + (all ? 1 : 0) != 1) {
      throw CommandFailure.misuse("name keys, or a range (--from, --to, --prefix), or --all");
    }
    if (expected != null && keys.size() != 1) {
      throw CommandFailure.misuse("--if-version is for one key");
    }
    for (final String key : keys) {
      encoded.add(types.key(key));
    }
    removed = range.range(types);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) {
    return encoded.isEmpty() ? removeRange(connection, out) : removeKeys(connection, out);
  }

  private int removeKeys(Connection connection, Output out) {
    final String name = index.name(session());
    final KeyedIndex<ByteString, ByteString> view =
        connection.keyed(name, connection.require(name).getKind());
    if (expected != null) {
      return removeOne(view, out);
    }
    long count = 0;
    for (int i = 0; i < encoded.size() && !stop().isRequested(); i++) {
      if (view.remove(encoded.get(i))) {
        count++;
      } else {
        stdio().note(name() + ": no such key in index '" + name + "': " + keys.get(i));
      }
    }
    report(count, out);
    return count == encoded.size() ? ExitCode.OK : ExitCode.NOT_FOUND;
  }

  private int removeOne(KeyedIndex<ByteString, ByteString> view, Output out) {
    if (!view.removeIf(encoded.get(0), expected)) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "key '"
              + Printable.shorten(keys.get(0))
              + "' is not there with version "
              + expected
              + "; not deleted");
    }
    report(1, out);
    return ExitCode.OK;
  }

  private int removeRange(Connection connection, Output out) {
    final OrderedIndex<ByteString, ByteString> view =
        connection.requireOrdered(index.name(session()), "a range");
    if (!yes) {
      confirm(
          "Delete "
              + Printable.entries(view.count(removed))
              + " of index '"
              + index.name(session())
              + "': "
              + range.text()
              + "?");
    }
    report(view.deleteRange(removed), out);
    return ExitCode.OK;
  }

  private void report(long count, Output out) {
    if (isJson()) {
      out.object().text("index", index.name(session())).number("deleted", count).end();
    } else {
      out.line("deleted " + Printable.entries(count));
    }
  }
}

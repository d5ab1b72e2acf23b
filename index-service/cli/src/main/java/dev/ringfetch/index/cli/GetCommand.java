package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.client.SpatialIndex;
import dev.ringfetch.index.v1.IndexKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that reads entries by their keys. */
@Command(name = "get", description = "Print the value of a key, or keys with their values.")
final class GetCommand extends ClientCommand {
  @Parameters(arity = "1..*", paramLabel = "KEY", description = "Keys to look up.")
  private List<String> keys;

  @Option(names = "--direct", description = "Read the memory of the index, not by calls.")
  private boolean direct;

  @Option(names = "--raw", description = "Print the bytes of one value, and nothing else.")
  private boolean raw;

  @Option(
      names = "--kernel",
      paramLabel = "NAME",
      description = "Run a kernel of the server; KEY is its argument.")
  private String kernel;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private final List<ByteString> encoded = new ArrayList<>();

  GetCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    for (final String key : keys) {
      encoded.add(types.key(key));
    }
    if (kernel != null && direct) {
      throw CommandFailure.misuse("--kernel runs at the server: it goes without --direct");
    }
    if (raw && (keys.size() > 1 || isJson())) {
      throw CommandFailure.misuse("--raw is for one key, and goes without --json");
    }
  }

  @Override
  int run(Connection connection, Output out) {
    final IndexKind kind = connection.require(index.name(session())).getKind();
    if (kind == IndexKind.SPATIAL) {
      final SpatialIndex<ByteString, ByteString> view = connection.spatial(index.name(session()));
      return kernel == null ? getBoxes(view, out) : runKernel(view, out);
    }
    final boolean ordered = kind == IndexKind.ORDERED;
    final KeyedIndex<ByteString, ByteString> view =
        DirectAccess.of(direct).view(connection, index.name(session()), ordered);
    if (kernel != null) {
      return runKernel(view, out);
    }
    final TextTable table = new TextTable("ll");
    int absent = 0;
    for (int i = 0; i < encoded.size() && !stop().isRequested(); i++) {
      final Optional<IndexEntry<ByteString, ByteString>> found = view.getEntry(encoded.get(i));
      if (found.isEmpty()) {
        absent++;
        noteAbsent(keys.get(i));
      } else {
        print(found.get(), keys.get(i), table, out);
      }
      if (table.isFull()) {
        table.print(out, width());
      }
    }
    table.print(out, width());
    if (direct) {
      DirectAccess.noteCalls(connection, stdio());
    }
    return absent == 0 ? ExitCode.OK : ExitCode.NOT_FOUND;
  }

  private int runKernel(KeyedIndex<ByteString, ?> view, Output out) {
    for (final ByteString argument : encoded) {
      final ByteString answer = view.runKernel(kernel, argument);
      if (raw) {
        out.bytes(answer);
      } else if (isJson()) {
        out.object().data("answer", types.valueType(), answer).end();
      } else {
        out.line(types.valueType().show(answer));
      }
    }
    return ExitCode.OK;
  }

  private int getBoxes(SpatialIndex<ByteString, ByteString> view, Output out) {
    final BoxTable table = new BoxTable(types, isJson() ? -1 : width(), out);
    int absent = 0;
    for (int i = 0; i < encoded.size() && !stop().isRequested(); i++) {
      final var found = view.getEntry(encoded.get(i));
      if (found.isEmpty()) {
        absent++;
        noteAbsent(keys.get(i));
      } else if (raw) {
        out.bytes(found.get().value().value());
      } else {
        table.add(found.get());
      }
    }
    table.end();
    return absent == 0 ? ExitCode.OK : ExitCode.NOT_FOUND;
  }

  private void noteAbsent(String key) {
    stdio().note(name() + ": no such key in index '" + index.name(session()) + "': " + key);
  }

  private void print(
      IndexEntry<ByteString, ByteString> entry, String key, TextTable table, Output out) {
    if (raw) {
      out.bytes(entry.value());
    } else if (isJson()) {
      out.object()
          .data("key", types.keyType(), entry.key())
          .data("value", types.valueType(), entry.value())
          .number("version", entry.version())
          .time("deadline", entry.deadline())
          .end();
    } else if (encoded.size() == 1) {
      out.line(types.valueType().show(entry.value()));
    } else {
      table.row(Printable.escape(key), Printable.escape(types.valueType().show(entry.value())));
    }
  }
}

package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.KeyedIndex;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that writes an entry. */
@Command(
    name = "put",
    description = "Write an entry. An index that is not there is created, ordered.")
final class PutCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "KEY", description = "Key; after -- if it begins with -.")
  private String key;

  @Parameters(index = "1", arity = "0..1", paramLabel = "VALUE", description = "Value.")
  private String value;

  @Option(
      names = "--file",
      paramLabel = "PATH",
      description = "Take the bytes of a file as the value; - is stdin.")
  private String file;

  @Option(names = "--previous", description = "Print the value that it replaces; 3 if none.")
  private boolean previous;

  @Option(names = "--if-absent", description = "Only if there is no such key; 1 if there is.")
  private boolean ifAbsent;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      converter = TimeSpan.class,
      description = "How long the entry is there, such as 30s, 5m, 2h or 7d.")
  private Duration ttl;

  @Option(
      names = "--box",
      paramLabel = "BOX",
      converter = Coordinates.BoxText.class,
      description = "For a spatial index: X,Y or X1,Y1,X2,Y2.")
  private Box box;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private ByteString keyBytes;
  private ByteString valueBytes;

  PutCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    if ((value == null) == (file == null)) {
      throw CommandFailure.misuse(
          value == null ? "VALUE is missing, or --file" : "VALUE goes without --file");
    }
    if (previous && ifAbsent) {
      throw CommandFailure.misuse("--previous goes without --if-absent");
    }
    index.name(session());
    keyBytes = types.key(key);
    valueBytes = value == null ? null : types.value(value);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) throws IOException {
    if (file != null) {
      valueBytes = readFile();
    }
    valueBytes = box == null ? valueBytes : Coordinates.located(box, valueBytes);
    final String name = index.name(session());
    final KeyedIndex<ByteString, ByteString> view =
        connection.keyed(name, connection.orCreate(name, box != null, stdio()));
    if (previous) {
      return replace(view, out);
    }
    final long version;
    if (ifAbsent) {
      final var outcome =
          ttl == null
              ? view.compareAndSet(keyBytes, 0, valueBytes)
              : view.compareAndSet(keyBytes, 0, valueBytes, ttl);
      if (!outcome.applied()) {
        throw new CommandFailure(
            ExitCode.FAILED, "key '" + Printable.shorten(key) + "' is there already; not written");
      }
      version = outcome.entry().orElseThrow().version();
    } else {
      version = ttl == null ? view.put(keyBytes, valueBytes) : view.put(keyBytes, valueBytes, ttl);
    }
    return written(version, out);
  }

  private int written(long version, Output out) {
    if (isJson()) {
      out.object()
          .text("index", index.name(session()))
          .data("key", types.keyType(), keyBytes)
          .number("version", version)
          .end();
    } else {
      out.line("written, version " + version);
    }
    return ExitCode.OK;
  }

  private int replace(KeyedIndex<ByteString, ByteString> view, Output out) {
    final Optional<ByteString> before =
        ttl == null
            ? view.getAndSet(keyBytes, valueBytes)
            : view.getAndSet(keyBytes, valueBytes, ttl);
    if (before.isEmpty()) {
      stdio().note(name() + ": written; there was no such key: " + Printable.shorten(key));
      return ExitCode.NOT_FOUND;
    }
    final ByteString shown = box == null ? before.get() : Coordinates.value(before.get());
    if (isJson()) {
      out.object()
          .data("key", types.keyType(), keyBytes)
          .data("previous", types.valueType(), shown)
          .end();
    } else {
      out.line(types.valueType().show(shown));
    }
    return ExitCode.OK;
  }

  private ByteString readFile() throws IOException {
    try (InputStream in = session().open(file)) {
      final ByteString bytes = ByteString.copyFrom(in.readNBytes(TypeOptions.VALUE_MAX + 1));
      if (bytes.size() > TypeOptions.VALUE_MAX) {
        throw new CommandFailure(
            ExitCode.FAILED,
            file + ": a value has at most " + Printable.number(TypeOptions.VALUE_MAX) + " bytes");
      }
      return bytes;
    }
  }
}

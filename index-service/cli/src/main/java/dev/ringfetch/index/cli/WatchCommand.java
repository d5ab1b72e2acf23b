package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.HistoryGoneException;
import dev.ringfetch.index.client.IndexChange;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.Watch;
import dev.ringfetch.index.client.WatchOptions;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.Status;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that prints the changes of an index as they come, until a signal ends it. */
@Command(
    name = "watch",
    description = "Print changes as they come, a line each, until interrupted.")
final class WatchCommand extends ClientCommand {
  /** Limit of the time until the command sees the signal to stop. */
  private static final Duration WAIT = Duration.ofMillis(100);

  @Mixin private IndexName index;

  @Option(names = "--prefix", paramLabel = "KEY", description = "Keys that begin with this.")
  private String prefix;

  @Option(names = "--key", paramLabel = "KEY", description = "This key alone.")
  private String key;

  @Option(
      names = "--box",
      paramLabel = "BOX",
      converter = Coordinates.BoxText.class,
      description = "What enters, moves in or leaves X1,Y1,X2,Y2.")
  private Box box;

  @Option(
      names = "--from",
      paramLabel = "TOKEN",
      description = "Changes after the token that a watch's end prints.")
  private String from;

  @Option(names = "--keys-only", description = "Without values.")
  private boolean keysOnly;

  @Mixin private TypeOptions types;
  private WatchOptions options = WatchOptions.fromNow();
  private ByteString keyBytes;
  private Range<ByteString> range;
  private boolean located; // values begin with boxes

  WatchCommand(Session session) {
    super(session);
  }

  private String indexName() {
    return index.orElse(session().defaultOf(IndexOption.INDEX));
  }

  @Override
  void check() {
    indexName();
    if (key != null && prefix != null) {
      throw CommandFailure.misuse("--key goes without --prefix");
    }
    if (box != null && (key != null || prefix != null)) {
      throw CommandFailure.misuse("--box goes without --key and --prefix");
    }
    if (key != null) {
      keyBytes = types.key(key);
    }
    if (prefix != null) {
      if (!types.keyType().hasPrefixes()) {
        throw CommandFailure.misuse(
            "--prefix needs keys of type string or hex, not " + types.keyType());
      }
      final ByteString bytes = types.bound("--prefix", prefix);
      range = bytes.isEmpty() ? Range.all() : Range.prefix(bytes);
    }
    if (from != null) {
      options = WatchOptions.from(token(from));
    }
    if (keysOnly) {
      options = options.keysOnly();
    }
  }

  private static ByteString token(String text) {
    try {
      final byte[] bytes = Base64.getUrlDecoder().decode(text);
      if (bytes.length > 0) {
        return ByteString.copyFrom(bytes);
      }
    } catch (IllegalArgumentException e) {
      // As below.
    }
    throw CommandFailure.misuse(noToken(text));
  }

  private static String noToken(String text) {
    return "--from: '"
        + Printable.shorten(text)
        + "' is no token that a watch of this index has printed";
  }

  private static String text(ByteString token) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token.toByteArray());
  }

  @Override
  int run(Connection connection, Output out) {
    try {
      if (box != null) {
        located = true;
        print(
            connection.requireSpatial(indexName(), "--box").watch(box, options),
            value -> Coordinates.located(value.box(), value.value()),
            out);
      } else {
        print(open(connection), value -> value, out);
      }
      return ExitCode.OK;
    } catch (HistoryGoneException e) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "the changes after the token are kept no more; the oldest: --from "
              + text(e.oldestToken()));
    } catch (IndexException e) {
      if (from != null && e.code() == Status.Code.INVALID_ARGUMENT) {
        throw new CommandFailure(ExitCode.FAILED, noToken(from));
      }
      throw e;
    }
  }

  private Watch<ByteString, ByteString> open(Connection connection) {
    if (range != null) {
      return connection.requireOrdered(indexName(), "a range").watch(range, options);
    }
    final IndexKind kind = connection.require(indexName()).getKind();
    located = kind == IndexKind.SPATIAL;
    final KeyedIndex<ByteString, ByteString> view = connection.keyed(indexName(), kind);
    return keyBytes == null ? view.watch(options) : view.watchKey(keyBytes, options);
  }

  private <V> void print(Watch<ByteString, V> watch, Function<V, ByteString> bytes, Output out) {
    boolean gone = false;
    try (watch) {
      while (!stop().isRequested()) {
        Optional<IndexChange<ByteString, V>> change = watch.next(WAIT);
        while (change.isPresent()) {
          print(change.get(), change.get().value().map(bytes), watch.token(), out);
          change = stop().isRequested() ? Optional.empty() : watch.next(Duration.ZERO);
        }
        out.flush(); // before it waits
      }
    } catch (HistoryGoneException e) {
      gone = true; // the watch cannot resume
      throw e;
    } finally {
      if (!gone && !isJson()) {
        stdio().note("go on with --from " + text(watch.token()));
      }
    }
  }

  private void print(
      IndexChange<ByteString, ?> change,
      Optional<ByteString> written,
      ByteString token,
      Output out) {
    final String kind = name(change.kind());
    final Optional<String> crossing = change.crossing().map(WatchCommand::name);
    final Optional<String> place =
        written.filter(bytes -> located).map(bytes -> Coordinates.text(Coordinates.box(bytes)));
    final Optional<ByteString> value =
        written.map(bytes -> located ? Coordinates.value(bytes) : bytes);
    if (isJson()) {
      final Output.Json line = out.object().text("kind", kind);
      crossing.ifPresent(text -> line.text("crossing", text));
      line.data("key", types.keyType(), change.key());
      place.ifPresent(text -> line.text("box", text));
      value.ifPresent(bytes -> line.data("value", types.valueType(), bytes));
      line.number("version", change.version())
          .flag("created", change.created())
          .text("token", text(token))
          .end();
    } else {
      final StringBuilder line =
          new StringBuilder(String.format(Locale.ROOT, "%-6s  ", crossing.orElse(kind)))
              .append(Printable.escape(types.keyType().show(change.key())));
      place.ifPresent(text -> line.append("  ").append(text));
      value.ifPresent(
          bytes -> line.append("  ").append(Printable.escape(types.valueType().show(bytes))));
      out.line(width() == 0 ? line.toString() : Printable.cut(line.toString(), width()));
    }
  }

  private static String name(Enum<?> kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }
}

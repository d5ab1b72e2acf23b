package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.HistoryGoneException;
import dev.ringfetch.index.client.IndexChange;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.Watch;
import dev.ringfetch.index.client.WatchOptions;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
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
      names = "--from",
      paramLabel = "TOKEN",
      description = "Changes after this token, which the end of a watch prints.")
  private String from;

  @Option(names = "--keys-only", description = "Without values.")
  private boolean keysOnly;

  @Mixin private TypeOptions types;
  private WatchOptions options = WatchOptions.fromNow();
  private ByteString keyBytes;
  private Range<ByteString> range;

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
    throw CommandFailure.misuse("--from: '" + Printable.shorten(text) + "' is no token");
  }

  private static String text(ByteString token) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token.toByteArray());
  }

  @Override
  int run(Connection connection, Output out) {
    try (Watch<ByteString, ByteString> watch = open(connection)) {
      print(watch, out);
      return ExitCode.OK;
    } catch (HistoryGoneException e) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "the changes after the token are kept no more; the oldest: --from "
              + text(e.oldestToken()));
    }
  }

  private Watch<ByteString, ByteString> open(Connection connection) {
    if (range != null) {
      return connection.requireOrdered(indexName(), "a range").watch(range, options);
    }
    final KeyedIndex<ByteString, ByteString> view =
        connection.keyed(indexName(), connection.require(indexName()).getKind());
    return keyBytes == null ? view.watch(options) : view.watchKey(keyBytes, options);
  }

  private void print(Watch<ByteString, ByteString> watch, Output out) {
    boolean gone = false;
    try {
      while (!stop().isRequested()) {
        Optional<IndexChange<ByteString, ByteString>> change = watch.next(WAIT);
        while (change.isPresent()) {
          print(change.get(), watch, out);
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
      IndexChange<ByteString, ByteString> change, Watch<ByteString, ByteString> watch, Output out) {
    final String kind = change.kind().name().toLowerCase(Locale.ROOT);
    if (isJson()) {
      final Output.Json line =
          out.object().text("kind", kind).data("key", types.keyType(), change.key());
      change.value().ifPresent(value -> line.data("value", types.valueType(), value));
      line.number("version", change.version())
          .flag("created", change.created())
          .text("token", text(watch.token()))
          .end();
    } else {
      final String shown = Printable.escape(types.keyType().show(change.key()));
      final String value =
          change
              .value()
              .map(bytes -> "  " + Printable.escape(types.valueType().show(bytes)))
              .orElse("");
      final String line = String.format(Locale.ROOT, "%-6s  ", kind) + shown + value;
      out.line(width() == 0 ? line : Printable.cut(line, width()));
    }
  }
}

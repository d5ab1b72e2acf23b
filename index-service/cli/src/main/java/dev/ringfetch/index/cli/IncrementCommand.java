package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.v1.IndexKind;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that adds to a counter. */
@Command(name = "increment", description = "Add to a counter, which begins at 0, and print it.")
final class IncrementCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "KEY", description = "Key; after -- if it begins with -.")
  private String key;

  @Option(
      names = "--by",
      paramLabel = "NUMBER",
      defaultValue = "1",
      description = "What to add, 1 unless given; --by=-5 takes 5 away.")
  private long delta;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      converter = TimeSpan.class,
      description = "How long a new counter is there; one that is there keeps its deadline.")
  private Duration ttl;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private ByteString keyBytes;

  IncrementCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    keyBytes = types.key(key);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) {
    final String name = index.name(session());
    final KeyedIndex<ByteString, ByteString> view =
        connection.keyed(name, connection.orCreate(name, IndexKind.ORDERED, stdio()));
    final long counter =
        ttl == null ? view.increment(keyBytes, delta) : view.increment(keyBytes, delta, ttl);
    if (isJson()) {
      out.object()
          .text("index", name)
          .data("key", types.keyType(), keyBytes)
          .number("value", counter)
          .end();
    } else {
      out.line(Long.toString(counter));
    }
    return ExitCode.OK;
  }
}

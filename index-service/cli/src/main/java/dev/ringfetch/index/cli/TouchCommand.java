package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.KeyedIndex;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** The command that changes the deadlines of entries. */
@Command(name = "touch", description = "Change the deadlines of keys, which keep their values.")
final class TouchCommand extends ClientCommand {
  @Parameters(arity = "1..*", paramLabel = "KEY", description = "Keys to touch.")
  private List<String> keys;

  @ArgGroup(exclusive = true, multiplicity = "1")
  private Deadline deadline;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private final List<ByteString> encoded = new ArrayList<>();

  /** One of the options that give a deadline. */
  private static final class Deadline {
    @Option(
        names = "--ttl",
        paramLabel = "TIME",
        converter = TimeSpan.class,
        description = "How long they are there from now on, such as 30s, 5m, 2h or 7d.")
    private Duration ttl;

    @Option(
        names = "--at",
        paramLabel = "INSTANT",
        converter = InstantText.class,
        description = "When they end, such as 2026-11-27T08:30:00Z.")
    private Instant at;

    @SuppressWarnings("UnusedVariable") // picocli sets it; it is what is left
    @Option(names = "--persist", description = "They stay until they are removed.")
    private boolean persist;

    OptionalLong touch(KeyedIndex<ByteString, ByteString> view, ByteString key) {
      if (ttl != null) {
        return view.touch(key, ttl);
      }
      return at == null ? view.persist(key) : view.expireAt(key, at);
    }
  }

  /** An instant on the command line. */
  private static final class InstantText implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
      try {
        return DataType.parseInstant(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  TouchCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    for (final String key : keys) {
      encoded.add(types.key(key));
    }
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) {
    final String name = index.name(session());
    final KeyedIndex<ByteString, ByteString> view =
        connection.keyed(name, connection.require(name).getKind());
    long count = 0;
    for (int i = 0; i < encoded.size() && !stop().isRequested(); i++) {
      if (deadline.touch(view, encoded.get(i)).isPresent()) {
        count++;
      } else {
        stdio().note(name() + ": no such key in index '" + name + "': " + keys.get(i));
      }
    }
    if (isJson()) {
      out.object().text("index", name).number("touched", count).end();
    } else {
      out.line("touched " + Printable.entries(count));
    }
    return count == encoded.size() ? ExitCode.OK : ExitCode.NOT_FOUND;
  }
}

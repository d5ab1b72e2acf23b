package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.IGetter;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options that benchmarks share: number and length of rounds, the warm-up, a quick run, and
 * cores for processes. A benchmark declares those that it has, with its own defaults and words; in
 * these {@code %s} stands for the default. {@link Adding} makes them options of the command.
 */
@Command
final class RunOptions {
  private static final String LENGTH = "Length of a round. Default: %s.";

  private final List<OptionSpec> declared = new ArrayList<>();
  private final Amount rounds = new Amount();
  private final Amount millis = new Amount();
  private final Amount warmUp = new Amount();
  private final Flag quick = new Flag();
  private final Flag unpinned = new Flag();

  /** Adds what the mixins of a command declare; the command names it as its transformer. */
  static final class Adding implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      for (final CommandSpec mixin : command.mixins().values()) {
        if (mixin.userObject() instanceof RunOptions options) {
          options.declared.forEach(command::addOption);
        }
      }
      return command;
    }
  }

  /** Declares {@code --quick}. */
  RunOptions withQuick(String description) {
    quick.declare("--quick", description);
    return this;
  }

  /** Declares {@code --rounds}. */
  RunOptions withRounds(int usual) {
    return withRounds(usual, usual);
  }

  /** Declares {@code --rounds}. */
  RunOptions withRounds(int usual, int ifQuick) {
    rounds.declare("--rounds", "<rounds>", "Default: %s.", usual, ifQuick);
    return this;
  }

  /** Declares {@code --millis}. */
  RunOptions withMillis(int usual) {
    return withMillis(LENGTH, usual);
  }

  /** Declares {@code --millis}. */
  RunOptions withMillis(int usual, int ifQuick) {
    millis.declare("--millis", "<millis>", LENGTH, usual, ifQuick);
    return this;
  }

  /** Declares {@code --millis}. */
  RunOptions withMillis(String description, int usual) {
    millis.declare("--millis", "<millis>", description, usual, usual);
    return this;
  }

  /** Declares {@code --warm-up}. */
  RunOptions withWarmUp(String description, int usual) {
    return withWarmUp(description, usual, usual);
  }

  /** Declares {@code --warm-up}. */
  RunOptions withWarmUp(String description, int usual, int ifQuick) {
    warmUp.declare("--warm-up", "<warmUp>", description, usual, ifQuick);
    return this;
  }

  /** Declares {@code --no-pinning}. */
  RunOptions withPinning(String description) {
    unpinned.declare("--no-pinning", description);
    return this;
  }

  /** Number of rounds. */
  int rounds() {
    return rounds.value();
  }

  /** Length of a round in milliseconds. */
  int millis() {
    return millis.value();
  }

  /** Length of the warm-up, in the unit that the benchmark has declared. */
  int warmUp() {
    return warmUp.value();
  }

  /** Whether a quick run is wanted. */
  boolean quick() {
    return quick.given;
  }

  /** The setting of a value that depends on {@link #quick}: the one given, or a default. */
  <T> T or(T given, T usual, T ifQuick) {
    if (given != null) {
      return given;
    }
    return quick() ? ifQuick : usual;
  }

  /** Cores for processes, as far as the machine and the options allow it. */
  Pinning pinning() throws IOException {
    return unpinned.given ? Pinning.none("not asked for") : Pinning.ofMachine();
  }

  /** A number with two defaults. */
  private final class Amount {
    private Integer given;
    private int usual;
    private int ifQuick;

    void declare(String name, String label, String description, int usual, int ifQuick) {
      this.usual = usual;
      this.ifQuick = ifQuick;
      final String defaults = usual == ifQuick ? "" + usual : usual + ", " + ifQuick + " if quick";
      add(
          OptionSpec.builder(name)
              .paramLabel(label)
              .type(Integer.class)
              .description(description.replace("%s", defaults)),
          () -> given,
          value -> given = (Integer) value);
    }

    int value() {
      return or(given, usual, ifQuick);
    }
  }

  /** An option without a value. */
  private final class Flag {
    private boolean given;

    void declare(String name, String description) {
      add(
          OptionSpec.builder(name).type(boolean.class).initialValue(false).description(description),
          () -> given,
          value -> given = (Boolean) value);
    }
  }

  private void add(OptionSpec.Builder option, Getter getter, Setter setter) {
    declared.add(option.getter(getter).setter(setter).build());
  }

  /** Reads a value without its type. */
  @FunctionalInterface
  private interface Getter extends IGetter {
    Object value();

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as picocli has it
    default <T> T get() {
      return (T) value();
    }
  }

  /** Writes a value without its type. */
  @FunctionalInterface
  private interface Setter extends ISetter {
    void put(Object value);

    @Override
    default <T> T set(T value) {
      put(value);
      return value;
    }
  }
}

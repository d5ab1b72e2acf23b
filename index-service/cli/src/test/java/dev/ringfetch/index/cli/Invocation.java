package dev.ringfetch.index.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A run of the program in this JVM, with surroundings of its own. */
final class Invocation {
  private final Map<String, String> environment = new HashMap<>();
  private final List<String> more = new ArrayList<>();
  private InputStream in = InputStream.nullInputStream();
  private OutputStream out; // null: collected
  private Stdio.Terminals terminals = new Stdio.Terminals(false, false, false);
  private StopSignal stop = new StopSignal();

  Invocation(String server) {
    environment.put("RINGFETCH_SERVER", server);
  }

  /** The server is one with this directory, on a machine that may be busy. */
  Invocation shm(Path directory) {
    more.add("--shm-directory=" + directory);
    more.add("--timeout=60s");
    return this;
  }

  Invocation input(String text) {
    return input(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  Invocation input(InputStream stream) {
    in = stream;
    return this;
  }

  Invocation output(OutputStream stream) {
    out = stream;
    return this;
  }

  Invocation stop(StopSignal signal) {
    stop = signal;
    return this;
  }

  /** A person sits there: at the keyboard, and before the screen. */
  Invocation person() {
    terminals = new Stdio.Terminals(true, true, true);
    return this;
  }

  Invocation environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  Outcome run(String... args) {
    final ByteArrayOutputStream collected = new ByteArrayOutputStream();
    final ByteArrayOutputStream errors = new ByteArrayOutputStream();
    final Stdio stdio =
        new Stdio(
            in,
            out == null ? collected : out,
            new PrintStream(errors, true, StandardCharsets.UTF_8),
            terminals,
            environment);
    final List<String> all = new ArrayList<>();
    if (args.length > 0) {
      final int words = args[0].equals("topic") && args.length > 1 ? 2 : 1; // of the command
      all.addAll(List.of(args).subList(0, words));
      all.addAll(more); // before the operands, and before --
      all.addAll(List.of(args).subList(words, args.length));
    }
    final int code = IndexProgram.run(stdio, stop, all.toArray(String[]::new));
    return new Outcome(
        code, collected.toString(StandardCharsets.UTF_8), errors.toString(StandardCharsets.UTF_8));
  }
}

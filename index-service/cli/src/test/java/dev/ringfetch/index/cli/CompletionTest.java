package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jline.reader.Candidate;
import org.jline.reader.Parser;
import org.jline.reader.impl.DefaultParser;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests of the completions that the shell offers at a tab. */
final class CompletionTest {
  @TempDir static Path directory;

  private static TestServer server;
  private static Session session;
  private static Completion completion;

  @BeforeAll
  static void start() throws IOException {
    server = TestServer.start(directory, TestServer.MEMORY);
    for (final String index : List.of("cats", "cows", "dogs")) {
      server.run("create", index).done();
    }
    session = shell(server.target());
    completion = new Completion(session);
  }

  @AfterAll
  static void stop() {
    session.close();
    server.close();
  }

  private static Session shell(String target) {
    final Stdio stdio =
        new Stdio(
            InputStream.nullInputStream(),
            OutputStream.nullOutputStream(),
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
            new Stdio.Terminals(true, true, true),
            Map.of());
    final Session session = new Session(stdio, new StopSignal());
    final ServerOptions options = new ServerOptions();
    new CommandLine(options, IndexProgram.factory(session))
        .parseArgs("--server=" + target, "--shm-directory=" + directory, "--timeout=60s");
    session.beginShell(options, question -> "");
    return session;
  }

  private static List<String> complete(Completion completion, String line) {
    final List<Candidate> candidates = new ArrayList<>();
    completion.complete(
        null,
        new DefaultParser().parse(line, line.length(), Parser.ParseContext.COMPLETE),
        candidates);
    return candidates.stream().map(Candidate::value).sorted().toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "use c",
        "describe c",
        "drop --yes c",
        "watch c",
        "stat c",
        "cluster recover c",
        "put -i c",
        "scan --json --index c",
        "put key value -i c"
      })
  void whereAnIndexIsNamedTheNamesOfIndexesAreOffered(String line) {
    assertEquals(List.of("cats", "cows"), complete(completion, line));
  }

  @Test
  void allNamesAreOfferedWhereNoneIsBegun() {
    final List<String> all = complete(completion, "use ");
    assertTrue(all.containsAll(List.of("cats", "cows", "default", "dogs")), all::toString);
    assertEquals(List.of("--index=dogs"), complete(completion, "put --index=do"));
  }

  @Test
  void commandsAndOptionsAreOffered() {
    assertEquals(List.of("use"), complete(completion, "u"));
    assertEquals(List.of("exit"), complete(completion, "e"));
    assertEquals(List.of("recover"), complete(completion, "cluster r"));
    assertEquals(List.of("--prefix"), complete(completion, "scan --pre"));
    assertEquals(List.of(), complete(completion, "delete c")); // a key
  }

  @Test
  void aServerThatDoesNotAnswerHasNoNames() {
    try (Session unreached = shell("localhost:1")) {
      final Completion names = new Completion(unreached);
      assertEquals(List.of(), complete(names, "use c"));
      assertEquals(List.of(), complete(names, "cluster recover --node l"));
    }
  }
}

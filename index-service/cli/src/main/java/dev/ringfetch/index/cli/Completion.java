package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.IndexDescription;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;
import picocli.AutoComplete;
import picocli.CommandLine.Model.CommandSpec;

/** The completion of a shell's lines: commands, options, and names of indexes and nodes. */
final class Completion implements Completer {
  /** The words that the shell itself reads. */
  private static final List<String> WORDS = List.of("help", "exit", "quit");

  private final CommandSpec commands;

  /** Creates it for a session that is a shell. */
  Completion(Session session) {
    commands = IndexProgram.commandLine(session).getCommandSpec();
    WORDS.forEach(word -> commands.addSubcommand(word, CommandSpec.create()));
  }

  @Override
  public void complete(LineReader reader, ParsedLine line, List<Candidate> candidates) {
    final List<CharSequence> found = new ArrayList<>();
    AutoComplete.complete(
        commands,
        line.words().toArray(String[]::new),
        line.wordIndex(),
        line.wordCursor(),
        line.cursor(),
        found);
    for (final CharSequence rest : found) {
      final String begin = line.word().substring(0, line.wordCursor());
      candidates.add(new Candidate(begin + rest));
    }
  }

  /** The candidates for an argument: names that the shell's server reports at the moment. */
  abstract static class Names implements Iterable<String> {
    final Session session;

    private Names(Session session) {
      this.session = session;
    }

    /** Asks the server; throws if it does not answer. */
    abstract List<String> ask(ServerOptions server);

    @Override
    public final Iterator<String> iterator() {
      try {
        return session.shellServer().map(this::ask).orElse(List.of()).iterator();
      } catch (StatusRuntimeException | CommandFailure e) {
        return List.<String>of().iterator(); // the command itself will report the failure
      }
    }
  }

  /** The names of the indexes. */
  static final class Indexes extends Names {
    Indexes(Session session) {
      super(session);
    }

    @Override
    List<String> ask(ServerOptions server) {
      final Connection connection = session.connect(server);
      try {
        return connection.list().stream().map(IndexDescription::getName).toList();
      } finally {
        session.giveBack(connection);
      }
    }
  }

  /** The addresses of the nodes of a cluster. */
  static final class Nodes extends Names {
    Nodes(Session session) {
      super(session);
    }

    @Override
    List<String> ask(ServerOptions server) {
      try (ClusterQuestions questions = ClusterQuestions.of(server)) {
        return List.copyOf(LostIndexes.of(questions.answers()).nodes().keySet());
      }
    }
  }
}

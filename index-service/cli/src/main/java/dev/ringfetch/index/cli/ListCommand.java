package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.IndexDescription;
import java.util.List;
import picocli.CommandLine.Command;

/** The command that lists the indexes of a server. */
@Command(name = "list", description = "List the indexes of the server.")
final class ListCommand extends ClientCommand {
  ListCommand(Session session) {
    super(session);
  }

  @Override
  int run(Connection connection, Output out) {
    final List<IndexDescription> indexes = connection.list();
    if (isJson()) {
      indexes.forEach(index -> IndexTable.json(index, out).end());
    } else if (indexes.isEmpty()) {
      stdio()
          .note(
              "no index at "
                  + server().server()
                  + ": '"
                  + IndexProgram.NAME
                  + " create NAME' makes one");
    } else {
      IndexTable.print(indexes, out, width());
    }
    return ExitCode.OK;
  }
}

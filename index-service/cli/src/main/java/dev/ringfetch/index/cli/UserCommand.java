package dev.ringfetch.index.cli;

import dev.ringfetch.index.rights.PasswordHash;
import dev.ringfetch.index.rights.Rights;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that prints a line of a users file, with the hash of a password. */
@Command(
    name = "user",
    hidden = true, // of the few who administer users: the list has no line left
    description = {
      "Print the line of a user for the file of serve --users.",
      "Reads the password from standard input, from a file: < FILE"
    })
final class UserCommand implements Callable<Integer> {
  private final Session session;

  @Parameters(index = "0", paramLabel = "NAME", description = "Name of the user.")
  private String name;

  @Parameters(
      index = "1..*",
      paramLabel = "RIGHT",
      description = "Such as read:orders.* write:carts admin:*")
  private List<String> rights = List.of();

  @Option(names = "--certificate", description = "A client certificate proves the name.")
  private boolean certificate;

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this, and exit.")
  private boolean help;

  @Spec private CommandSpec spec;

  UserCommand(Session session) {
    this.session = session;
  }

  @Override
  public Integer call() {
    final String proof = certificate ? "certificate" : PasswordHash.of(password()).text();
    final String line = (name + " " + proof + " " + String.join(" ", rights)).strip();
    try {
      Rights.checkLine(line);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.misuse(e.getMessage());
    }
    spec.commandLine().getOut().println(line);
    return ExitCode.OK;
  }

  private String password() {
    final String password = session.ask("");
    if (password.isEmpty()) {
      throw CommandFailure.misuse("the password is empty");
    }
    return password;
  }
}

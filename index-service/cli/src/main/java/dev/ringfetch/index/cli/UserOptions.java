package dev.ringfetch.index.cli;

import dev.ringfetch.index.client.IndexClientBuilder;
import dev.ringfetch.index.files.ChangingFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The options of the user of commands that talk to a server. The password is in a file. */
final class UserOptions {
  private static final String USER = "--user";
  private static final String PASSWORD_FILE = "--password-file";

  /** Position in the help of commands, after TLS. */
  private static final int ORDER = 106;

  @Option(
      names = USER,
      order = ORDER + 0,
      paramLabel = "NAME",
      description = "User of the server, unless a certificate names it.")
  private String user;

  @Option(
      names = PASSWORD_FILE,
      order = ORDER + 1,
      paramLabel = "FILE",
      description = "Has the user's password.")
  private Path file;

  /** The defaults that an environment has; an empty variable counts as not set. */
  static Map<String, String> defaults(Map<String, String> environment) {
    final Map<String, String> defaults = new LinkedHashMap<>();
    for (final String option : new String[] {USER, PASSWORD_FILE}) {
      final String value =
          environment.getOrDefault(
              option.equals(USER) ? "RINGFETCH_USER" : "RINGFETCH_PASSWORD_FILE", "");
      if (!value.isEmpty()) {
        defaults.put(option, value);
      }
    }
    return defaults;
  }

  /** The options that are set, with their values. */
  Map<String, String> given() {
    final Map<String, String> given = new LinkedHashMap<>();
    if (user != null) {
      given.put(USER, user);
    }
    if (file != null) {
      given.put(PASSWORD_FILE, file.toString());
    }
    return given;
  }

  /** The password: the first line of the file. */
  private String password() throws IOException {
    ChangingFiles.checkSecret(file);
    final List<String> lines = Files.readAllLines(file);
    return lines.isEmpty() ? "" : lines.get(0);
  }

  /** Gives a client the user and the password, if the options are set. */
  void apply(IndexClientBuilder client) {
    if ((user == null) != (file == null)) {
      throw CommandFailure.misuse(USER + " and " + PASSWORD_FILE + " need each other");
    }
    if (user != null) {
      try {
        client.credentials(user, password());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (IllegalArgumentException e) {
        throw CommandFailure.misuse(e.getMessage());
      }
    }
  }
}

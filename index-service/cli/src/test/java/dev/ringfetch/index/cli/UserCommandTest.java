package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.rights.Rights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command that makes the lines of users, and commands to a server with users. */
@Timeout(300)
final class UserCommandTest {
  private static final String PASSWORD = "correct horse";

  @TempDir Path directory;

  private Path secret(String name, String text) throws IOException {
    final Path file = directory.resolve(name);
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  private static Outcome user(String input, String... args) {
    final String[] all = new String[args.length + 1];
    all[0] = "user";
    System.arraycopy(args, 0, all, 1, args.length);
    return new Invocation("localhost:1").input(input).run(all);
  }

  @Test
  void aLineIsPrintedWithoutThePassword() {
    final Outcome outcome = user(PASSWORD + "\n", "ann", "read:*", "write:carts.*");
    assertEquals(ExitCode.OK, outcome.code(), outcome::toString);
    assertTrue(
        outcome
            .out()
            .matches("ann pbkdf2-sha512:210000:[^: ]+:[^: ]+ read:\\* write:carts\\.\\*\n"),
        outcome::toString);
    assertFalse(outcome.toString().contains(PASSWORD), outcome::toString);
    user("", "ann", "--certificate", "admin:*").prints("ann certificate admin:*");
    user("\n", "ann").fails(ExitCode.MISUSE, "the password is empty");
    user(PASSWORD, "a:b").fails(ExitCode.MISUSE, "no name of a user");
    user(PASSWORD, "ann", "reed:*").fails(ExitCode.MISUSE, "part 3: no right");
  }

  @Test
  void commandsTakeTheUserFromOptionsOrTheEnvironment() throws IOException {
    final String line = user(PASSWORD + "\n", "ann", "write:default").out();
    final Path password = secret("password", PASSWORD + "\nnot this line\n");
    try (TestServer server = TestServer.start(directory, new Rights(secret("users", line)))) {
      server.run("put", "a", "1", "--user=ann", "--password-file=" + password).done();
      final Outcome got =
          new Invocation(server.target())
              .shm(directory)
              .environment("RINGFETCH_USER", "ann")
              .environment("RINGFETCH_PASSWORD_FILE", password.toString())
              .run("get", "a");
      got.prints("1");
      server.run("get", "a").fails(ExitCode.FAILED, "unauthenticated");
      server
          .run("get", "a", "--user=ann", "--password-file=" + secret("wrong", "guess"))
          .fails(ExitCode.FAILED, "unauthenticated: wrong user or password");
      server
          .run("get", "a", "--index=b", "--user=ann", "--password-file=" + password)
          .fails(ExitCode.FAILED, "permission denied: user=ann right=read index=b");
      server.run("get", "a", "--user=ann").fails(ExitCode.MISUSE, "need each other");
      Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-r--r--"));
      server
          .run("get", "a", "--user=ann", "--password-file=" + password)
          .fails(ExitCode.FAILED, "chmod o= " + password);
    }
  }
}

package dev.ringfetch.index;

import dev.ringfetch.index.rights.AuditLog;
import dev.ringfetch.index.rights.Right;
import dev.ringfetch.index.rights.Rights;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a server's users and their audit log. Without users, each client may do all. */
final class UsersOptions {
  private static final String USERS = "--users";

  @Option(names = USERS, paramLabel = "FILE", description = "Users and rights, one user a line.")
  private @Nullable Path file;

  @Option(
      names = "--audit",
      paramLabel = "FILE",
      description = "Log there who did what; 'log': to standard error.")
  private @Nullable String audit;

  @Option(
      names = "--audit-from",
      paramLabel = "RIGHT",
      defaultValue = "write",
      description = "Calls in the audit: from read, write or admin on. Default: write.")
  private Right auditFrom;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /**
   * Reads the file of the users; null if the option is not set.
   *
   * @param provesNodes whether nodes have to prove who they are, if this is one
   */
  @Nullable Rights read(boolean isNode, boolean provesNodes) throws IOException {
    if (file == null) {
      if (audit != null) {
        throw misuse("--audit needs " + USERS + ": without users, nobody knows who did it");
      }
      return null;
    }
    if (isNode && !provesNodes) {
      throw misuse(
          USERS
              + " with --cluster needs --tls-cert, --tls-key and --tls-ca: who can act as a node"
              + " needs no user");
    }
    return audit == null ? new Rights(file) : new Rights(file, audit());
  }

  private AuditLog audit() throws IOException {
    try {
      return new AuditLog(audit, auditFrom);
    } catch (IOException e) {
      throw new IOException("--audit: " + FailureReason.of(e), e);
    }
  }

  private ParameterException misuse(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}

package dev.ringfetch.index.cli;

import dev.ringfetch.index.client.IndexException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLException;

/**
 * The report of a failure to the user: an exit code, and a line with the cause and the remedy.
 *
 * @param line empty if nothing is printed.
 */
record FailureReport(int exitCode, String line) {
  /** Begin of the message of a server that runs, but whose disk has failed. */
  private static final String WRITING_ENDED = "the server takes no writes any more";

  /**
   * Parts of the messages of cluster nodes that are reachable, but have no leader for the index.
   */
  private static final List<String> NO_LEADER =
      List.of("the index has no leader now", "no node leads the index", "the coordinator ");

  /** Part of messages about the client's own limit of operations. */
  private static final String OWN_LIMIT = "maxInFlight=";

  /** Begin of netty's message about an answer that is not TLS. */
  private static final String PLAINTEXT = "not an SSL/TLS record";

  /** Begin of gRPC's description of a connection that the other side has closed. */
  private static final String CLOSED = "Network closed for unknown reason";

  private static final String LOOK =
      "; '" + IndexProgram.NAME + " cluster' shows nodes and members";

  /**
   * The report of a command's exception.
   *
   * @param server that the command talked to; null if none.
   * @param timeout of its calls, for the text.
   */
  static FailureReport of(Throwable failure, String server, String timeout) {
    if (failure instanceof CommandFailure known) {
      return new FailureReport(known.exitCode(), known.getMessage());
    }
    if (failure instanceof IndexException refused) {
      return ofCall(
          Status.fromCode(refused.code())
              .withDescription(refused.description())
              .withCause(refused.getCause()),
          refused.isOutcomeUnknown() ? "; it may have been carried out all the same" : "",
          server,
          timeout);
    }
    if (failure instanceof StatusRuntimeException call) {
      return ofCall(call.getStatus(), "", server, timeout);
    }
    if (failure instanceof UncheckedIOException unchecked) {
      return ofFile(unchecked.getCause());
    }
    if (failure instanceof IOException file) {
      return ofFile(file);
    }
    if (failure instanceof InvalidPathException path) {
      return new FailureReport(
          ExitCode.MISUSE,
          "'" + Printable.shorten(path.getInput()) + "' is no path: " + path.getReason());
    }
    if (failure instanceof OutOfMemoryError) {
      return new FailureReport(
          ExitCode.FAILED, "out of memory: RINGFETCH_JVM_FLAGS=-Xmx2g gives the program more");
    }
    return new FailureReport(ExitCode.FAILED, "unexpected " + failure + "; --verbose prints where");
  }

  private static FailureReport ofCall(
      Status status, String outcome, String server, String timeout) {
    final String description =
        status.getDescription() == null ? "" : Stdio.oneLine(status.getDescription());
    final String reason = reason(status, description);
    return switch (status.getCode()) {
      case UNAVAILABLE, INTERNAL, UNKNOWN, CANCELLED, UNIMPLEMENTED -> {
        if (description.startsWith(WRITING_ENDED)) {
          yield new FailureReport(ExitCode.FAILED, server + " says: " + description);
        }
        if (NO_LEADER.stream().anyMatch(description::startsWith)) {
          yield new FailureReport(
              ExitCode.UNREACHABLE, server + " says: " + description + outcome + LOOK);
        }
        if (speaksOther(reason + " " + description)) {
          yield new FailureReport(
              ExitCode.UNREACHABLE,
              "what listens at "
                  + server
                  + " is no index server: --server HOST:PORT names another");
        }
        if (status.getCode() == Status.Code.UNIMPLEMENTED) {
          yield new FailureReport(
              ExitCode.UNREACHABLE,
              "what listens at "
                  + server
                  + " serves no such call of an index ("
                  + description
                  + "): --server HOST:PORT names another");
        }
        if (isOfTls(status)) {
          yield new FailureReport(
              ExitCode.UNREACHABLE,
              reason.startsWith(PLAINTEXT)
                  ? server + " speaks plaintext, not TLS"
                  : "no TLS with "
                      + server
                      + " ("
                      + reason
                      + "): --tls-ca has the authority of its certificate, --tls-cert and --tls-key"
                      + " what it asks for");
        }
        if (isClosed(status, description)) {
          yield new FailureReport(
              ExitCode.UNREACHABLE,
              server
                  + " has closed the connection ("
                  + reason
                  + ")"
                  + outcome
                  + ": it has ended just now; or it speaks TLS (--tls-ca) and wants a certificate"
                  + " (--tls-cert), or is no index server: --server HOST:PORT names another");
        }
        if (status.getCode() != Status.Code.UNAVAILABLE) {
          yield new FailureReport(ExitCode.FAILED, text(status.getCode(), reason) + outcome);
        }
        yield new FailureReport(
            ExitCode.UNREACHABLE,
            "no index server at "
                + server
                + " ("
                + reason
                + ")"
                + (outcome.isEmpty()
                    ? ": '"
                        + IndexProgram.NAME
                        + " serve' starts one, --server HOST:PORT names another"
                    : outcome));
      }
      case DEADLINE_EXCEEDED ->
          new FailureReport(
              ExitCode.UNREACHABLE,
              server
                  + " gave no answer within "
                  + timeout
                  + "; --timeout sets more"
                  + outcome
                  + (ServerAddress.isOfCluster(server) ? LOOK : ""));
      case RESOURCE_EXHAUSTED ->
          new FailureReport(
              ExitCode.FAILED,
              (description.contains(OWN_LIMIT) ? "" : "the server is at a limit: ")
                  + description
                  + outcome);
      default -> new FailureReport(ExitCode.FAILED, text(status.getCode(), reason) + outcome);
    };
  }

  private static String text(Status.Code code, String reason) {
    return code.name().toLowerCase(Locale.ROOT).replace('_', ' ') + ": " + reason;
  }

  /** The root cause of a failure, in the words of the operating system. */
  private static String reason(Status status, String description) {
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    final String bottom = cause == null || cause.getMessage() == null ? "" : cause.getMessage();
    return bottom.isEmpty()
        ? description
        : Stdio.oneLine(bottom)
            .replaceFirst("^\\w+\\(\\.\\.\\) failed with error\\(-\\d+\\): ", "");
  }

  /** Whether a connection was made and lost, as one without TLS to a server with TLS is. */
  private static boolean isClosed(Status status, String description) {
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return description.startsWith(CLOSED)
        || (cause instanceof IOException
            && !(cause instanceof ConnectException)
            && !(cause instanceof UnknownHostException));
  }

  private static boolean isOfTls(Status status) {
    for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SSLException) {
        return true;
      }
    }
    return false;
  }

  /** Whether the text means that the peer does not speak HTTP/2. */
  private static boolean speaksOther(String text) {
    final String lower = text.toLowerCase(Locale.ROOT);
    return lower.contains("http/2")
        || lower.contains("http2")
        || lower.contains("settings")
        || lower.contains("preface")
        || lower.contains("frame size")
        || lower.contains("content-type");
  }

  private static FailureReport ofFile(IOException failure) {
    if (failure instanceof InterruptedIOException) {
      return new FailureReport(ExitCode.INTERRUPTED, "");
    }
    if (isBrokenPipe(failure)) {
      return new FailureReport(ExitCode.BROKEN_PIPE, "");
    }
    return new FailureReport(ExitCode.FAILED, fileText(failure));
  }

  private static boolean isBrokenPipe(IOException failure) {
    final String text = String.valueOf(failure.getMessage());
    return text.contains("Broken pipe") || text.contains("Pipe closed");
  }

  private static String fileText(IOException failure) {
    if (failure instanceof FileSystemException file) {
      if (failure instanceof NoSuchFileException) {
        return file.getFile() + ": no such file or directory";
      }
      if (failure instanceof AccessDeniedException) {
        return file.getFile() + ": permission denied";
      }
      return file.getReason() == null
          ? file.getFile() + ": " + failure.getClass().getSimpleName()
          : file.getFile() + ": " + file.getReason();
    }
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }
}

package dev.ringfetch.index.rights;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The users of a file, which has a line for each: the name; {@code certificate}, or the {@linkplain
 * PasswordHash hash} of the password; and rights, {@code RIGHT:INDEX} or {@code RIGHT:PREFIX*}.
 * Spaces are between them. Lines that begin with {@code #} are comments. Immutable.
 */
final class Users {
  private static final String CERTIFICATE = "certificate";
  private static final int MAX_NAME_LENGTH = 255;

  private final Map<String, User> users;

  private Users(Map<String, User> users) {
    this.users = users;
  }

  /**
   * Reads the contents of a file.
   *
   * @throws IOException if a line is wrong, with file, line and reason in its message
   */
  static Users parse(Path file, ByteString contents) throws IOException {
    if (!contents.isValidUtf8()) {
      throw new IOException(file + ": not UTF-8");
    }
    final Map<String, User> users = new HashMap<>();
    final Map<String, Integer> lines = new HashMap<>();
    int number = 0;
    for (final String text : contents.toStringUtf8().split("\n", -1)) {
      number++;
      final String line = text.strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          final User user = user(line);
          final Integer before = lines.putIfAbsent(user.name(), number);
          if (before != null) {
            throw new IllegalArgumentException(
                "user '" + user.name() + "' is in line " + before + " already");
          }
          users.put(user.name(), user);
        } catch (IllegalArgumentException e) {
          throw new IOException(file + ":" + number + ": " + e.getMessage()); // it says all
        }
      }
    }
    if (users.isEmpty()) {
      throw new IOException(file + ": no user");
    }
    return new Users(users);
  }

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException if it is wrong, with the reason
   */
  static User user(String line) {
    final String[] parts = line.split("\\s+", -1);
    checkName(parts[0]);
    if (parts.length < 2) {
      throw new IllegalArgumentException(
          "user '" + parts[0] + "' has neither '" + CERTIFICATE + "' nor the hash of a password");
    }
    final PasswordHash password =
        parts[1].equals(CERTIFICATE) ? null : PasswordHash.parse(parts[1]);
    final List<User.Grant> grants = new ArrayList<>();
    for (int i = 2; i < parts.length; i++) {
      try {
        grants.add(grant(parts[i]));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("part " + (i + 1) + ": " + e.getMessage(), e);
      }
    }
    return new User(parts[0], password, grants);
  }

  /**
   * Refuses what cannot be the name of a user.
   *
   * @throws IllegalArgumentException with the reason
   */
  private static void checkName(String name) {
    // RFC 7617 ends the name at the first colon.
    if (name.isEmpty()
        || name.length() > MAX_NAME_LENGTH
        || name.chars().anyMatch(c -> c == ':' || c <= ' ' || Character.isISOControl(c))) {
      throw new IllegalArgumentException(
          "no name of a user, which has 1 to " + MAX_NAME_LENGTH + " characters, no space or ':'");
    }
  }

  /**
   * Reads a right with its indexes. No message quotes it: it may be a password in a wrong place.
   */
  private static User.Grant grant(String text) {
    final int colon = text.indexOf(':');
    for (final Right right : Right.values()) {
      if (colon > 0 && text.substring(0, colon).equals(right.toString())) {
        final String index = text.substring(colon + 1);
        if (index.isEmpty()) {
          break;
        }
        return index.endsWith("*")
            ? new User.Grant(right, index.substring(0, index.length() - 1), true)
            : new User.Grant(right, index, false);
      }
    }
    throw new IllegalArgumentException(
        "no right: read:INDEX, write:INDEX or admin:INDEX, where INDEX may be PREFIX*");
  }

  /** The user of a name; null if there is none. */
  @Nullable User find(String name) {
    return users.get(name);
  }

  /** The user that a client certificate of this name proves; null if there is none. */
  @Nullable User ofCertificate(String name) {
    final User user = users.get(name);
    return user == null || user.password() != null ? null : user;
  }
}

package dev.ringfetch.index.rights;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A user: how a caller proves to be it, and its rights.
 *
 * @param password null if a client certificate of this name proves it
 */
record User(String name, @Nullable PasswordHash password, List<Grant> grants) {
  /**
   * A right to indexes.
   *
   * @param index name of the one index, or the beginning of names
   * @param isPrefix whether names begin so
   */
  record Grant(Right right, String index, boolean isPrefix) {
    boolean covers(Right wanted, String name) {
      return wanted.compareTo(right) <= 0
          && (isPrefix ? name.startsWith(index) : name.equals(index));
    }
  }

  User {
    grants = List.copyOf(grants);
  }

  /** Whether the user has a right to an index; there need not be such an index. */
  boolean may(Right right, String index) {
    for (int i = 0; i < grants.size(); i++) { // no iterator: each call on a ring comes here
      if (grants.get(i).covers(right, index)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the user has a right to all indexes there may ever be. */
  boolean mayAll(Right right) {
    return grants.stream()
        .anyMatch(grant -> grant.isPrefix && grant.index.isEmpty() && grant.covers(right, ""));
  }

  /** Whether a caller that has proved to be this user has thereby proved to be the other one. */
  boolean isProvedAs(User other) {
    return name.equals(other.name) && Objects.equals(password, other.password);
  }
}

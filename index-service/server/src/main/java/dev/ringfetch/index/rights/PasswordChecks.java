package dev.ringfetch.index.rights;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The checks of passwords. Each takes some tenths of a second, so one thread makes them, one after
 * the other; what it has found right is known from then on. Thread-safe.
 */
final class PasswordChecks {
  /** Checks that wait. Beyond it, callers are refused: all of them may be guesses. */
  static final int MAX_WAITING = 32;

  /** Same, of one host, so that its guesses leave room for others. */
  static final int MAX_WAITING_OF_HOST = 8;

  private static final String DIGEST = "HmacSHA256";
  private static final int KEY_LENGTH = 32;

  /** A password that was right: its digest under the key of this process. */
  @SuppressWarnings("ArrayRecordComponent") // for a comparison in constant time
  private record Right(PasswordHash hash, byte[] digest) {}

  private final SecretKeySpec key;
  private final Map<String, Right> right = new ConcurrentHashMap<>(); // by the user's name
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>(); // by host
  private final BoundedThread thread = new BoundedThread("index-passwords", MAX_WAITING);

  PasswordChecks() {
    final byte[] random = new byte[KEY_LENGTH];
    new SecureRandom().nextBytes(random);
    key = new SecretKeySpec(random, DIGEST);
  }

  /** Whether the credentials are known to be those of a user. */
  boolean isKnown(User user, Credentials shown) {
    final Right known = right.get(user.name());
    return known != null
        && known.hash.equals(user.password())
        && MessageDigest.isEqual(known.digest, digest(shown.password()));
  }

  /**
   * Checks credentials.
   *
   * @param user that they name; null if there is none, which takes as long
   * @param host of the caller
   * @param isOver whether nobody waits for the result any more
   * @param done is run on the thread of the checks, unless nobody waits: {@link #isKnown} has the
   *     result
   * @return false if too many checks wait
   */
  boolean check(
      @Nullable User user, Credentials shown, String host, BooleanSupplier isOver, Runnable done) {
    if (waiting.merge(host, 1, Integer::sum) > MAX_WAITING_OF_HOST) {
      leave(host);
      return false;
    }
    final boolean isTaken =
        thread.run(
            () -> {
              leave(host);
              if (!isOver.getAsBoolean()) {
                check(user, shown);
              }
              if (!isOver.getAsBoolean()) {
                done.run();
              }
            });
    if (!isTaken) {
      leave(host);
    }
    return isTaken;
  }

  private void leave(String host) {
    waiting.computeIfPresent(host, (key, count) -> count == 1 ? null : count - 1);
  }

  private void check(@Nullable User user, Credentials shown) {
    final PasswordHash hash = user == null ? null : user.password();
    if (hash == null) {
      final boolean unused = PasswordHash.OF_NOBODY.isOf(shown.password());
    } else if (!isKnown(user, shown) && hash.isOf(shown.password())) {
      right.put(user.name(), new Right(hash, digest(shown.password())));
    }
  }

  private byte[] digest(String password) {
    try {
      final Mac mac = Mac.getInstance(DIGEST);
      mac.init(key);
      return mac.doFinal(password.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new AssertionError("each JDK has " + DIGEST, e);
    }
  }
}

package dev.ringfetch.index.rights;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * The hash of a password by PBKDF2 with HMAC-SHA-512, and its parameters. Its text is {@code
 * pbkdf2-sha512:ITERATIONS:SALT:HASH}, the last two in base64.
 */
public final class PasswordHash {
  private static final String ALGORITHM = "pbkdf2-sha512";

  /** Of new hashes: OWASP's recommendation of 2023. */
  private static final int ITERATIONS = 210_000;

  /** Fewer are guessed quickly; more would let one line of the file keep a processor busy. */
  private static final int MIN_ITERATIONS = 10_000;

  private static final int MAX_ITERATIONS = 10_000_000;

  private static final int SALT_LENGTH = 16;
  private static final int MIN_HASH_LENGTH = 16;
  private static final int HASH_LENGTH = 32;
  private static final int MAX_LENGTH = 64;
  private static final int PARTS = 4;

  /** The hash of no password, for names that no user has: their calls take as long. */
  static final PasswordHash OF_NOBODY = ofNobody();

  private final int iterations;
  private final byte[] salt;
  private final byte[] hash;

  private PasswordHash(int iterations, byte[] salt, byte[] hash) {
    this.iterations = iterations;
    this.salt = salt;
    this.hash = hash;
  }

  private static PasswordHash ofNobody() {
    final byte[] random = new byte[HASH_LENGTH];
    new SecureRandom().nextBytes(random);
    return new PasswordHash(ITERATIONS, Arrays.copyOf(random, SALT_LENGTH), random);
  }

  /** The hash of a password, with a new salt. */
  public static PasswordHash of(String password) {
    final byte[] salt = new byte[SALT_LENGTH];
    new SecureRandom().nextBytes(salt);
    return new PasswordHash(ITERATIONS, salt, derive(password, salt, ITERATIONS, HASH_LENGTH));
  }

  /**
   * Reads a hash's text.
   *
   * @throws IllegalArgumentException if it is none; the message does not quote it
   */
  static PasswordHash parse(String text) {
    final String[] parts = text.split(":", -1);
    if (parts.length != PARTS || !parts[0].equals(ALGORITHM)) {
      throw new IllegalArgumentException(
          "no hash of a password, which is " + ALGORITHM + ":ITERATIONS:SALT:HASH");
    }
    final int iterations;
    try {
      iterations = Integer.parseInt(parts[1]);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("no number of iterations: '" + parts[1] + "'", e);
    }
    if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
      throw new IllegalArgumentException(
          "iterations=" + iterations + " is not in " + MIN_ITERATIONS + ".." + MAX_ITERATIONS);
    }
    return new PasswordHash(iterations, bytes("salt", parts[2]), bytes("hash", parts[3]));
  }

  @SuppressWarnings("UnusedException") // it quotes a character
  private static byte[] bytes(String what, String base64) {
    final byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("the " + what + " is no base64");
    }
    if (bytes.length < MIN_HASH_LENGTH || bytes.length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "the " + what + " has " + bytes.length + " bytes, not 16 to " + MAX_LENGTH);
    }
    return bytes;
  }

  /** Whether this is the hash of a password; takes long. */
  boolean isOf(String password) {
    return MessageDigest.isEqual(hash, derive(password, salt, iterations, hash.length));
  }

  private static byte[] derive(String password, byte[] salt, int iterations, int length) {
    // PBEKeySpec takes characters and encodes them as UTF-8; none would be refused.
    final PBEKeySpec spec =
        new PBEKeySpec(password.toCharArray(), salt, iterations, length * Byte.SIZE);
    try {
      return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA512").generateSecret(spec).getEncoded();
    } catch (GeneralSecurityException e) {
      throw new AssertionError("each JDK has PBKDF2", e);
    } finally {
      spec.clearPassword();
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PasswordHash that
        && iterations == that.iterations
        && Arrays.equals(salt, that.salt)
        && MessageDigest.isEqual(hash, that.hash);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(salt);
  }

  /** The text for the users file. */
  public String text() {
    final Base64.Encoder base64 = Base64.getEncoder();
    return String.join(
        ":",
        ALGORITHM,
        Integer.toString(iterations),
        base64.encodeToString(salt),
        base64.encodeToString(hash));
  }

  /** Not the hash: logs quote objects. */
  @Override
  public String toString() {
    return ALGORITHM + ":" + iterations;
  }
}

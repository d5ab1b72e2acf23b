package dev.ringfetch.index.rights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The users file: what its lines mean, and what is refused. */
final class UsersTest {
  private static final String HASH = "pbkdf2-sha512:210000:QouZciap7V2sh0DUt2SNCQ==:";
  private static final String DERIVED = "K+ACA86HDbEABoRWMleVplo2vW2lo0RyUnWQ5XEUeAM=";

  private static Users parse(String text) throws IOException {
    return Users.parse(Path.of("users"), ByteString.copyFromUtf8(text));
  }

  private static void assertRefused(String reason, String text) {
    final IOException refused = assertThrows(IOException.class, () -> parse(text));
    assertEquals(reason, refused.getMessage());
  }

  @Test
  void aLineHasNameProofAndRights() throws Exception {
    final Users users =
        parse(
            """
            # name  proof  rights
            ann  %s%s  read:orders.*  write:carts

              bob\tcertificate\tadmin:*
            eve certificate
            """
                .formatted(HASH, DERIVED));
    final User ann = users.find("ann");
    assertTrue(ann.password().isOf("some-long-password-12345"));
    assertFalse(ann.password().isOf("some-long-password-12346"));
    assertNull(users.ofCertificate("ann"), "a certificate of this name proves nothing");
    final User bob = users.ofCertificate("bob");
    assertNotNull(bob);
    assertNull(bob.password());
    assertTrue(bob.mayAll(Right.ADMIN));
    assertNotNull(users.ofCertificate("eve"));
    assertNull(users.find("Ann"));
    assertNull(users.find("#"));
  }

  /** Of ann, who reads names that begin with orders., and writes the index carts. */
  @ParameterizedTest
  @CsvSource({
    "orders.,     read",
    "orders.2026, read",
    "orders,      none",
    "Orders.2026, none",
    "carts,       write",
    "carts2,      none",
    "cart,        none",
    "default,     none"
  })
  void aRightIsToNamesThatBeginSoOrToOne(String index, String highest) throws Exception {
    final User ann = parse("ann certificate read:orders.* write:carts").find("ann");
    for (final Right right : Right.values()) {
      final boolean expected =
          !highest.equals("none")
              && right.compareTo(Right.valueOf(highest.toUpperCase(Locale.ROOT))) <= 0;
      assertEquals(expected, ann.may(right, index), right + " " + index);
      assertFalse(ann.mayAll(right));
    }
  }

  @Test
  void aWholeNameIsNoPrefixOfAll() throws Exception {
    assertFalse(parse("a certificate read:x").find("a").mayAll(Right.READ));
    assertFalse(parse("a certificate read:x*").find("a").mayAll(Right.READ));
    assertTrue(parse("a certificate read:x write:*").find("a").mayAll(Right.READ));
    assertTrue(parse("a certificate read:x write:*").find("a").mayAll(Right.WRITE));
    assertFalse(parse("a certificate read:x write:*").find("a").mayAll(Right.ADMIN));
  }

  @Test
  void aWrongLineIsNamedWithoutItsSecrets() {
    final String name = "no name of a user, which has 1 to 255 characters, no space or ':'";
    final String hash = "no hash of a password, which is pbkdf2-sha512:ITERATIONS:SALT:HASH";
    final String right =
        "no right: read:INDEX, write:INDEX or admin:INDEX, where INDEX may be PREFIX*";
    assertRefused("users: no user", "# ann certificate\n\n");
    assertRefused("users: no user", "");
    assertRefused("users:2: " + name, "\na:b certificate");
    assertRefused("users:1: " + name, "a".repeat(256) + " certificate");
    assertRefused(
        "users:1: user 'ann' has neither 'certificate' nor the hash of a password", "ann");
    assertRefused("users:1: " + hash, "ann secret read:*");
    assertRefused("users:1: " + hash, "ann read:* certificate");
    assertRefused("users:1: " + hash, "ann pbkdf2-sha1:210000:a:b");
    assertRefused("users:1: " + hash, "ann " + HASH + DERIVED + ":");
    assertRefused("users:1: part 3: " + right, "ann certificate secret");
    assertRefused("users:1: part 4: " + right, "ann certificate read:* read:");
    assertRefused("users:1: part 3: " + right, "ann certificate READ:*");
    assertRefused("users:1: part 3: " + right, "ann certificate :*");
    assertRefused(
        "users:3: user 'ann' is in line 1 already",
        "ann certificate\nbob certificate\nann certificate read:*");
    assertRefused(
        "users:1: no number of iterations: 'many'", "ann pbkdf2-sha512:many:AAAA:" + DERIVED);
    assertRefused(
        "users:1: iterations=9999 is not in 10000..10000000",
        "ann pbkdf2-sha512:9999:QouZciap7V2sh0DUt2SNCQ==:" + DERIVED);
    assertRefused(
        "users:1: iterations=10000001 is not in 10000..10000000",
        "ann pbkdf2-sha512:10000001:QouZciap7V2sh0DUt2SNCQ==:" + DERIVED);
    assertRefused("users:1: the salt is no base64", "ann pbkdf2-sha512:10000:!:" + DERIVED);
    assertRefused(
        "users:1: the salt has 3 bytes, not 16 to 64", "ann pbkdf2-sha512:10000:AAAA:" + DERIVED);
    assertRefused("users:1: the hash has 0 bytes, not 16 to 64", "ann " + HASH);
    assertRefused(
        "users: not UTF-8", () -> Users.parse(Path.of("users"), ByteString.fromHex("61ff")));
  }

  private static void assertRefused(String reason, Executable parsing) {
    assertEquals(reason, assertThrows(IOException.class, parsing).getMessage());
  }

  @Test
  void aHashIsReadAsItWasWritten() throws Exception {
    final PasswordHash hash = PasswordHash.of("päß word:");
    final User user = parse("ann " + hash.text()).find("ann");
    assertEquals(hash, user.password());
    assertTrue(user.password().isOf("päß word:"));
    assertFalse(user.password().isOf("pass word:"));
    assertFalse(user.toString().contains(hash.text().split(":", -1)[3]), user::toString);
    assertFalse(hash.equals(PasswordHash.of("päß word:")), "the salt is the same");
  }
}

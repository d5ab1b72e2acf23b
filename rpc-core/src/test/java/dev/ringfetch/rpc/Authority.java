package dev.ringfetch.rpc;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.x500.X500Principal;

/**
 * Signs certificates for tests. Writes them itself: what the JDK has for that is keytool alone, a
 * process or two for each.
 */
public final class Authority {
  private static final byte[] ECDSA_WITH_SHA256 =
      sequence(oid(0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2));
  private static final byte[] TRUE = tagged(0x01, new byte[] {-1});
  private static final int IS_AUTHORITY = 19;
  private static final int OTHER_NAMES = 17;
  private static final Duration DAY = Duration.ofDays(1);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  private final AtomicInteger serial = new AtomicInteger();
  private final X500Principal name;
  private final KeyPair keys = newKeys();
  private final byte[] certificate;

  /** An authority that vouches for itself. */
  public Authority(String commonName) {
    this.name = new X500Principal("CN=" + commonName);
    this.certificate =
        sign(name, keys, Instant.now().plus(DAY), extension(IS_AUTHORITY, true, sequence(TRUE)));
  }

  /** The certificate of this authority, for trust managers. */
  InputStream certificate() {
    return pem("CERTIFICATE", certificate);
  }

  /** Writes the certificate to a file, in PEM; returns the file. */
  public Path write(Path file) throws IOException {
    return Files.write(file, certificate().readAllBytes());
  }

  /** An identity that is good for as long as a test takes; a server's, too, on this host. */
  public Identity issue(String commonName) {
    return issue(commonName, "localhost");
  }

  /** An identity of hosts: names or IP addresses. */
  public Identity issue(String commonName, String... hosts) {
    return issue(commonName, Instant.now().plus(DAY), hosts);
  }

  /** An identity that was good until a minute ago. */
  public Identity issueExpired(String commonName) {
    return issue(commonName, Instant.now().minus(Duration.ofMinutes(1)), "localhost");
  }

  private Identity issue(String commonName, Instant end, String... hosts) {
    final KeyPair own = newKeys();
    final byte[][] names = Arrays.stream(hosts).map(Authority::host).toArray(byte[][]::new);
    return new Identity(
        sign(
            new X500Principal("CN=" + commonName),
            own,
            end,
            extension(OTHER_NAMES, false, sequence(names))),
        own);
  }

  private static byte[] host(String name) {
    if (!name.matches("[0-9.]+") && name.indexOf(':') < 0) {
      return tagged(0x82, name.getBytes(StandardCharsets.US_ASCII));
    }
    try {
      return tagged(0x87, InetAddress.getByName(name).getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("no IP address: " + name, e);
    }
  }

  private byte[] sign(X500Principal subject, KeyPair own, Instant end, byte[] extension) {
    final byte[] signed =
        sequence(
            tagged(0xA0, tagged(0x02, new byte[] {2})), // version 3
            tagged(0x02, new byte[] {(byte) serial.incrementAndGet()}),
            ECDSA_WITH_SHA256,
            name.getEncoded(),
            sequence(time(end.minus(DAY).minus(DAY)), time(end)),
            subject.getEncoded(),
            own.getPublic().getEncoded(),
            tagged(0xA3, sequence(extension)));
    try {
      final Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(keys.getPrivate());
      signature.update(signed);
      final byte[] noUnusedBits = {0};
      return sequence(signed, ECDSA_WITH_SHA256, tagged(0x03, noUnusedBits, signature.sign()));
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every JDK has it", e);
    }
  }

  private static KeyPair newKeys() {
    try {
      final KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(256);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every JDK has it", e);
    }
  }

  private static byte[] extension(int id, boolean critical, byte[] value) {
    final byte[] octets = tagged(0x04, value);
    return critical
        ? sequence(oid(0x55, 0x1D, id), TRUE, octets)
        : sequence(oid(0x55, 0x1D, id), octets);
  }

  private static byte[] time(Instant instant) {
    return tagged(0x17, TIME.format(instant).getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] oid(int... bytes) {
    final byte[] encoded = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      encoded[i] = (byte) bytes[i];
    }
    return tagged(0x06, encoded);
  }

  private static byte[] sequence(byte[]... parts) {
    return tagged(0x30, parts);
  }

  /** A DER element: tag, length in as few bytes as it takes, contents. */
  private static byte[] tagged(int tag, byte[]... parts) {
    final ByteArrayOutputStream contents = new ByteArrayOutputStream();
    for (final byte[] part : parts) {
      contents.writeBytes(part);
    }
    final int length = contents.size();
    final ByteArrayOutputStream element = new ByteArrayOutputStream();
    element.write(tag);
    if (length >= 0x100) {
      element.write(0x82);
      element.write(length >>> 8);
    } else if (length >= 0x80) {
      element.write(0x81);
    }
    element.write(length);
    element.writeBytes(contents.toByteArray());
    return element.toByteArray();
  }

  private static InputStream pem(String type, byte[] der) {
    final String lines = Base64.getMimeEncoder().encodeToString(der);
    return new ByteArrayInputStream(
        ("-----BEGIN " + type + "-----\n" + lines + "\n-----END " + type + "-----\n")
            .getBytes(StandardCharsets.US_ASCII));
  }

  /** Somebody whom an authority knows. */
  public static final class Identity {
    private final byte[] certificate;
    private final KeyPair keys;

    private Identity(byte[] certificate, KeyPair keys) {
      this.certificate = certificate;
      this.keys = keys;
    }

    InputStream certificate() {
      return pem("CERTIFICATE", certificate);
    }

    InputStream key() {
      return pem("PRIVATE KEY", keys.getPrivate().getEncoded());
    }

    /** Writes the certificate and its key to files, in PEM; nobody else can read the key. */
    public void write(Path certificateFile, Path keyFile) throws IOException {
      Files.write(certificateFile, certificate().readAllBytes());
      Files.write(keyFile, key().readAllBytes());
      Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("rw-------"));
    }
  }
}

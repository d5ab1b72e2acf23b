package dev.ringfetch.index.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rpc.Authority;
import io.grpc.Attributes;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerTransportFilter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Certificates and keys in files that cannot be used, and that change. */
@Timeout(120)
final class TlsFilesTest {
  private static final Authority AUTHORITY = new Authority("authority");

  @TempDir Path directory;
  private Path certificate;
  private Path key;
  private Path authorities;

  @BeforeEach
  void write() throws IOException {
    certificate = directory.resolve("cert.pem");
    key = directory.resolve("key.pem");
    authorities = AUTHORITY.write(directory.resolve("ca.pem"));
    AUTHORITY.issue("first").write(certificate, key);
  }

  private TlsFiles read() throws IOException {
    return new TlsFiles(certificate, key, authorities);
  }

  private void assertRefused(Path named, String reason) {
    final IOException refused = assertThrows(IOException.class, this::read);
    assertTrue(refused.getMessage().contains(named.toString()), refused::getMessage);
    assertTrue(refused.getMessage().contains(reason), refused::getMessage);
  }

  @Test
  void aKeyThatOtherUsersCanReadIsRefused() throws IOException {
    for (final String permissions : new String[] {"rw----r--", "rw-----w-"}) {
      Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(permissions));
      assertRefused(key, "chmod o= " + key);
    }
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    assertEquals(read().server().getClass(), read().server().getClass());
  }

  @Test
  void filesThatAreMissingOrOfSomethingElseAreNamed() throws Exception {
    Files.writeString(certificate, "no certificate\n");
    assertRefused(certificate, "no PEM file of certificates");
    AUTHORITY.issue("first").write(certificate, key);
    for (final String other :
        new String[] {
          "no key\n",
          "-----BEGIN PRIVATE KEY-----\nAB=CD\n-----END PRIVATE KEY-----\n",
          "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
          "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
        }) {
      Files.writeString(key, other);
      assertRefused(key, "PKCS #8");
      final IOException refused = assertThrows(IOException.class, this::read);
      assertFalse(refused.toString().contains("AB=CD"), refused::toString);
    }
    Files.delete(authorities);
    AUTHORITY.issue("first").write(certificate, key);
    assertThrows(NoSuchFileException.class, this::read);
    Files.writeString(authorities, "");
    assertRefused(authorities, "no PEM file of certificates");
  }

  @Test
  void aKeyOfAnotherCertificateIsRefused() throws Exception {
    AUTHORITY.issue("other").write(directory.resolve("unused"), key);
    assertRefused(key, "does not belong to the certificate");
    final String rsa =
        Base64.getMimeEncoder()
            .encodeToString(
                KeyPairGenerator.getInstance("RSA").generateKeyPair().getPrivate().getEncoded());
    Files.writeString(key, "-----BEGIN PRIVATE KEY-----\n" + rsa + "\n-----END PRIVATE KEY-----\n");
    assertRefused(key, "does not belong to the certificate");
  }

  @Test
  void aCertificateNeedsItsKey() throws IOException {
    assertThrows(
        IllegalArgumentException.class, () -> new TlsFiles(certificate, null, authorities));
    assertThrows(IllegalArgumentException.class, () -> new TlsFiles(null, key, authorities));
    final TlsFiles ofClient = new TlsFiles(null, null, authorities);
    assertThrows(IllegalStateException.class, ofClient::server);
  }

  /** Connects once, and returns the name in the certificate that the client has shown. */
  private static String connect(Server server, TlsFiles client, BlockingQueue<String> names)
      throws InterruptedException {
    final ManagedChannel channel =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), client.channel()).build();
    try {
      assertEquals(ConnectivityState.IDLE, channel.getState(true));
      final String name = names.poll(60, TimeUnit.SECONDS);
      assertTrue(name != null, "no connection");
      return name;
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void newConnectionsHaveTheFilesThatAreThere() throws Exception {
    final BlockingQueue<String> names = new LinkedBlockingQueue<>();
    final Path serverCertificate = directory.resolve("server.pem");
    final Path serverKey = directory.resolve("server-key.pem");
    AUTHORITY.issue("server").write(serverCertificate, serverKey);
    final TlsFiles ofServer = new TlsFiles(serverCertificate, serverKey, authorities);
    final TlsFiles ofClient = read();
    final Server server =
        Grpc.newServerBuilderForPort(0, ofServer.server())
            .addTransportFilter(new Names(names))
            .build()
            .start();
    try {
      assertEquals("CN=first", connect(server, ofClient, names));
      Files.writeString(certificate, "half of it");
      ofClient.refresh();
      assertEquals("CN=first", connect(server, ofClient, names));
      AUTHORITY.issue("second").write(certificate, directory.resolve("unused"));
      ofClient.refresh(); // the key is still that of the first one
      assertEquals("CN=first", connect(server, ofClient, names));
      Files.delete(key);
      ofClient.refresh();
      assertEquals("CN=first", connect(server, ofClient, names));
      AUTHORITY.issue("third").write(certificate, key);
      ofClient.refresh();
      assertEquals("CN=third", connect(server, ofClient, names));
    } finally {
      assertTrue(server.shutdownNow().awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  /** Notes the names of the clients. */
  private static final class Names extends ServerTransportFilter {
    private final BlockingQueue<String> names;

    Names(BlockingQueue<String> names) {
      this.names = names;
    }

    @Override
    public Attributes transportReady(Attributes attributes) {
      final SSLSession session = attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
      try {
        names.add(session.getPeerPrincipal().getName());
      } catch (IOException e) {
        names.add(e.toString());
      }
      return attributes;
    }
  }
}

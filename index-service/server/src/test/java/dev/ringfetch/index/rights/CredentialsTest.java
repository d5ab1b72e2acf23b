package dev.ringfetch.index.rights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a call shows of its caller, and where a password may come from. */
final class CredentialsTest {
  private static String basic(String text) {
    return "Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static Attributes from(String host) throws UnknownHostException {
    return Attributes.newBuilder()
        .set(
            Grpc.TRANSPORT_ATTR_REMOTE_ADDR,
            new InetSocketAddress(InetAddress.getByName(host), 4711))
        .build();
  }

  @Test
  void aHeaderHasUserAndPassword() {
    assertEquals(new Credentials("ann", "p:ä "), Credentials.of(basic("ann:p:ä ")));
    assertEquals(
        new Credentials("ann", "x"), Credentials.of("BASIC  " + basic("ann:x").substring(6)));
    for (final String wrong :
        new String[] {
          "",
          "Basic",
          "Basic ",
          "Basic !",
          basic(""),
          basic("ann"),
          basic("ann:"),
          basic(":x"),
          "Bearer " + basic("ann:x").substring(6),
          basic("ann:" + "x".repeat(3_000))
        }) {
      assertNull(Credentials.of(wrong), wrong);
    }
    assertFalse(new Credentials("ann", "secret").toString().contains("secret"));
  }

  @Test
  void aPasswordComesByTlsOrFromThisHost() throws Exception {
    assertTrue(Credentials.areSecret(from("127.0.0.9")));
    assertTrue(Credentials.areSecret(from("::1")));
    assertTrue(Credentials.areSecret(Attributes.EMPTY), "within the process");
    assertFalse(Credentials.areSecret(from("10.1.2.3")));
    assertFalse(Credentials.areSecret(from("2001:db8::1")));
    assertTrue(
        Credentials.areSecret(
            from("10.1.2.3").toBuilder()
                .set(
                    Grpc.TRANSPORT_ATTR_SSL_SESSION,
                    SSLContext.getDefault().createSSLEngine().getSession())
                .build()));
  }

  @Test
  void aPasswordOverPlaintextIsRefusedAlthoughItIsRight(@TempDir Path directory) throws Exception {
    final Path file = directory.resolve("users");
    Files.writeString(file, "ann " + PasswordHash.of("right").text() + " admin:*\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    try (Rights rights = new Rights(file)) {
      final Metadata headers = new Metadata();
      headers.put(Credentials.AUTHORIZATION, basic("ann:right"));
      final Refused call = new Refused(from("10.1.2.3"));
      final ServerCall.Listener<GetRequest> unused =
          new GuardedCalls(rights)
              .interceptCall(
                  call,
                  headers,
                  (served, with) -> {
                    throw new AssertionError("the call is served");
                  });
      assertEquals(Status.Code.UNAUTHENTICATED, call.end.getCode());
      assertTrue(call.end.getDescription().contains("without TLS"), call.end::toString);
    }
  }

  /** A call that is to be refused. */
  private static final class Refused extends ServerCall<GetRequest, GetResponse> {
    private final Attributes attributes;
    private Status end;

    Refused(Attributes attributes) {
      this.attributes = attributes;
    }

    @Override
    public void close(Status status, Metadata trailers) {
      end = status;
    }

    @Override
    public Attributes getAttributes() {
      return attributes;
    }

    @Override
    public MethodDescriptor<GetRequest, GetResponse> getMethodDescriptor() {
      return IndexGrpc.getGetMethod();
    }

    @Override
    public void request(int messages) {
      throw new AssertionError("messages are asked for: " + messages);
    }

    @Override
    public void sendHeaders(Metadata headers) {
      throw new AssertionError("headers are sent");
    }

    @Override
    public void sendMessage(GetResponse message) {
      throw new AssertionError("an answer is sent: " + message);
    }

    @Override
    public boolean isCancelled() {
      return false;
    }
  }
}

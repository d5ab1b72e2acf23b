package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.rights.PasswordHash;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program with a users file and an audit log. */
@Timeout(300)
final class UsersProcessTest {
  private static final String PASSWORD = "correct-horse";

  @TempDir Path directory;

  private void write(String... lines) throws IOException {
    final Path file = directory.resolve("users.new");
    Files.write(file, List.of(lines));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    Files.move(file, directory.resolve("users"), StandardCopyOption.ATOMIC_MOVE);
  }

  private static IndexGrpc.IndexBlockingStub stub(ManagedChannel channel, String password) {
    final Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
        "Basic "
            + Base64.getEncoder()
                .encodeToString(("ann:" + password).getBytes(StandardCharsets.UTF_8)));
    return IndexGrpc.newBlockingStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  private static Status.Code put(IndexGrpc.IndexBlockingStub stub) {
    try {
      return stub.put(
                      PutRequest.newBuilder()
                          .setIndex("orders")
                          .setKey(ByteString.copyFromUtf8("secret-key"))
                          .build())
                  .getVersion()
              > 0
          ? Status.Code.OK
          : null;
    } catch (StatusRuntimeException e) {
      return e.getStatus().getCode();
    }
  }

  @Test
  void theFileIsReadAgainAndNothingSecretIsSaid() throws Exception {
    final String hash = PasswordHash.of(PASSWORD).text();
    write("ann " + hash + " write:orders");
    final Path audit = directory.resolve("audit");
    try (ServerProcess server =
        ServerProcess.start(
            "--port=0", "--users=" + directory.resolve("users"), "--audit=" + audit)) {
      final int port = server.awaitPort();
      String line = server.readLine();
      while (!line.startsWith(IndexServer.ADDRESSES)) {
        line = server.readLine();
      }
      assertTrue(line.endsWith("; plaintext; for users"), line);
      final ManagedChannel channel =
          ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
      try {
        assertEquals(Status.Code.OK, put(stub(channel, PASSWORD)));
        assertEquals(Status.Code.UNAUTHENTICATED, put(stub(channel, "guess")));
        assertEquals(
            Status.Code.UNAUTHENTICATED,
            assertThrows(
                    StatusRuntimeException.class,
                    () ->
                        IndexGrpc.newBlockingStub(channel)
                            .get(
                                GetRequest.newBuilder()
                                    .setKey(ByteString.copyFromUtf8("a"))
                                    .build()))
                .getStatus()
                .getCode());
        write("ann " + hash + " read:orders");
        final long startNs = System.nanoTime();
        while (put(stub(channel, PASSWORD)) != Status.Code.PERMISSION_DENIED) {
          assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(60), "not read again");
          Thread.sleep(50);
        }
        write("ann");
        Thread.sleep(2_500); // longer than two looks
        assertEquals(Status.Code.PERMISSION_DENIED, put(stub(channel, PASSWORD)));
      } finally {
        channel.shutdownNow();
      }
      server.terminate();
      final List<String> errors = server.errors();
      assertEquals(2, errors.size(), errors::toString);
      assertTrue(errors.get(0).contains("users were read again"), errors::toString);
      assertTrue(
          errors
              .get(1)
              .endsWith(
                  "the former users stay in use: "
                      + directory.resolve("users")
                      + ":1: user 'ann' has neither 'certificate' nor the hash of a password"),
          errors::toString);
      final String log = Files.readString(audit);
      assertTrue(log.contains(" method=Index/Put index=orders status=OK\n"), log);
      assertTrue(log.contains(" method=Index/Put index=orders status=PERMISSION_DENIED\n"), log);
      for (final String secret : List.of(PASSWORD, hash, "guess", "secret-key")) {
        assertFalse((log + errors).contains(secret), secret);
      }
    }
  }
}

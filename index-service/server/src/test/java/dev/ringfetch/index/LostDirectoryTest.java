package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Server processes whose data directory is taken from them while they serve. */
@Timeout(240)
class LostDirectoryTest {
  @TempDir Path shm;
  @TempDir Path parent;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final List<ByteString> answered = new ArrayList<>();
  private int puts;

  @AfterEach
  void end() throws Exception {
    for (final AutoCloseable each : opened) {
      each.close();
    }
  }

  private ServerProcess start(String... options) throws Exception {
    final List<String> arguments =
        new ArrayList<>(
            List.of(
                "--port=0",
                "--shm-directory=" + shm,
                "--memory=64M",
                "--data=" + parent.resolve("data")));
    arguments.addAll(List.of(options));
    final ServerProcess server = ServerProcess.start(arguments.toArray(String[]::new));
    opened.add(server);
    return server;
  }

  private IndexGrpc.IndexBlockingStub stub(ServerProcess server) throws Exception {
    final ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    opened.add(channel::shutdownNow);
    return IndexGrpc.newBlockingStub(channel);
  }

  /** Puts the next key; returns whether that was answered. */
  private boolean put(IndexGrpc.IndexBlockingStub index) {
    final ByteString key = ByteString.copyFromUtf8("key" + ++puts);
    try {
      final var unused =
          index
              .withDeadlineAfter(30, TimeUnit.SECONDS)
              .put(PutRequest.newBuilder().setIndex("books").setKey(key).build());
      answered.add(key);
      return true;
    } catch (StatusRuntimeException e) {
      return false;
    }
  }

  @Tag("slow")
  @Test
  void aDeletedLockLetsNoSecondServerInAndEndsTheFirst() throws Exception {
    final ServerProcess first = start("--durability=disk");
    final IndexGrpc.IndexBlockingStub index = stub(first);
    assertTrue(put(index));
    Files.delete(parent.resolve("data").resolve("lock"));
    assertTrue(!put(index), "answered without a lock");
    final ServerProcess second = start("--durability=disk");
    assertEquals(1, second.awaitExit());
    final String refusal = String.join("\n", second.errors());
    assertTrue(refusal.contains("the lock was deleted"), refusal);
    assertEquals(1, first.awaitExit());
    final String said = String.join("\n", first.errors());
    assertTrue(said.contains("index server: ends") && said.contains("data/lock"), said);
    assertAllAreThere("--takeover");
  }

  /** A second server that is told to take over while the first one lives. */
  @Tag("slow")
  @Test
  void whatEitherServerAnswersIsThere() throws Exception {
    final ServerProcess first = start("--durability=disk");
    final IndexGrpc.IndexBlockingStub index = stub(first);
    for (int i = 0; i < 20; i++) {
      assertTrue(put(index));
    }
    Files.delete(parent.resolve("data").resolve("lock"));
    final ServerProcess second = start("--durability=disk", "--takeover");
    final IndexGrpc.IndexBlockingStub other = stub(second);
    while (put(index)) {} // until it knows
    for (int i = 0; i < 20; i++) {
      assertTrue(put(other));
    }
    assertEquals(1, first.awaitExit());
    second.close();
    second.awaitExit();
    assertAllAreThere();
  }

  /** Of a server that has nothing to write. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"lock", "gate"})
  void aServerEndsWhoseFileIsGone(String file) throws Exception {
    final ServerProcess server = start();
    assertTrue(put(stub(server)));
    Files.delete(parent.resolve("data").resolve(file));
    assertEquals(1, server.awaitExit());
    final String said = String.join("\n", server.errors());
    assertTrue(said.contains("data/" + file), said);
  }

  private void assertAllAreThere(String... options) throws Exception {
    final IndexGrpc.IndexBlockingStub index = stub(start(options));
    for (final ByteString key : answered) {
      assertTrue(
          index.get(GetRequest.newBuilder().setIndex("books").setKey(key).build()).hasEntry(),
          key::toStringUtf8);
    }
  }
}

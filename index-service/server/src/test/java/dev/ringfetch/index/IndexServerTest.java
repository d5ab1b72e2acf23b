package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.rpc.Authority;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program, run as its users run it: a process of its own. */
class IndexServerTest {
  private static final int DEADLINE_SECONDS = ServerProcess.DEADLINE_SECONDS;

  /** What the JVM ends with after SIGTERM: 128 and the number of the signal. */
  private static final int TERMINATED = 128 + 15;

  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final PutRequest PUT =
      PutRequest.newBuilder().setKey(KEY).setValue(ByteString.copyFromUtf8("value")).build();

  private ManagedChannel channel;

  @AfterEach
  void closeChannel() {
    if (channel != null) {
      channel.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--port=0", "--port=0 --direct"})
  void servesUntilItIsTerminated(String arguments) throws Exception {
    try (ServerProcess server = ServerProcess.start(arguments.split(" "))) {
      final IndexGrpc.IndexBlockingStub stub = connect(server);
      assertTrue(stub.put(PUT).getCreated());
      assertEquals(
          PUT.getValue(),
          stub.get(GetRequest.newBuilder().setKey(KEY).build()).getEntry().getValue());
      server.terminate();
      assertEquals(TERMINATED, server.awaitExit());
      assertEquals(List.of(), server.errors());
    }
  }

  @Tag("slow")
  @Test
  void servesRingsInTheDirectoryThatItIsTold(@TempDir Path shm) throws Exception {
    try (ServerProcess server = ServerProcess.start("--port=0", "--shm-directory=" + shm)) {
      channel =
          RingChannelBuilder.forAddress("localhost", server.awaitPort())
              .usePlaintext()
              .shmDirectory(shm)
              .requireFabric()
              .build();
      assertEquals("rings over: shm", server.readLine());
      assertTrue(stub().put(PUT).getCreated());
      server.terminate();
      // The client is idle: there is nothing that the server would have to wait for.
      assertEquals(TERMINATED, server.awaitExit(IndexServer.GRACE_SECONDS / 2));
    }
  }

  @Test
  void filesOfTlsAreReadAgainWhileItServes(@TempDir Path directory) throws Exception {
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    final Path authorities = directory.resolve("ca.pem");
    final Authority first = new Authority("first");
    first.issue("both sides").write(certificate, key);
    first.write(authorities);
    try (ServerProcess server =
        ServerProcess.start(
            "--port=0",
            "--tls-cert=" + certificate,
            "--tls-key=" + key,
            "--tls-ca=" + authorities)) {
      final String target = "localhost:" + server.awaitPort();
      channel =
          Grpc.newChannelBuilder(target, new TlsFiles(certificate, key, authorities).channel())
              .build();
      assertTrue(stub().put(PUT).getCreated());
      final Authority second = new Authority("second");
      second.issue("both sides").write(certificate, key);
      second.write(authorities);
      final TlsFiles fresh = new TlsFiles(certificate, key, authorities);
      final long beginNs = System.nanoTime();
      while (!accepts(target, fresh)) {
        assertTrue(
            System.nanoTime() - beginNs < TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS),
            "the new files are not used");
      }
      assertFalse(stub().put(PUT).getCreated()); // over the old connection
      server.terminate();
      assertEquals(TERMINATED, server.awaitExit());
    }
  }

  private static boolean accepts(String target, TlsFiles files) throws InterruptedException {
    final ManagedChannel fresh = Grpc.newChannelBuilder(target, files.channel()).build();
    try {
      return !IndexGrpc.newBlockingStub(fresh)
          .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
          .put(PUT)
          .getCreated();
    } catch (StatusRuntimeException e) {
      assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode(), e::toString);
      Thread.sleep(100);
      return false;
    } finally {
      fresh.shutdownNow();
    }
  }

  @Test
  void callInFlightOutlivesTheSignal() throws Exception {
    try (ServerProcess server = ServerProcess.start("--port=0")) {
      final OpenPut put = openPut(server);
      put.terminateUnder(server);
      assertTrue(server.isAlive());
      put.call.halfClose();
      assertEquals(Status.Code.OK, put.awaitStatus().getCode());
      assertTrue(put.response.join().getCreated());
      assertEquals(TERMINATED, server.awaitExit());
    }
  }

  @Test
  @Tag("slow")
  void callThatNeverFinishesDoesNotHoldTheProcess() throws Exception {
    try (ServerProcess server = ServerProcess.start("--port=0")) {
      final OpenPut put = openPut(server);
      put.terminateUnder(server);
      assertFalse(put.awaitStatus().isOk());
      assertEquals(TERMINATED, server.awaitExit());
    }
  }

  @Test
  void portInUseIsOneLineAndExitCodeOne() throws Exception {
    try (ServerSocket taken = new ServerSocket(0);
        ServerProcess server = ServerProcess.start("--port=" + taken.getLocalPort())) {
      assertEquals(1, server.awaitExit());
      final List<String> errors = server.errors();
      assertEquals(1, errors.size(), errors::toString);
      final String start = "index server: cannot listen on port " + taken.getLocalPort() + ": ";
      assertTrue(errors.get(0).startsWith(start), errors::toString);
      assertTrue(errors.get(0).endsWith("Address already in use"), errors::toString);
    }
  }

  private IndexGrpc.IndexBlockingStub connect(ServerProcess server) throws Exception {
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    return stub();
  }

  private IndexGrpc.IndexBlockingStub stub() {
    return IndexGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** Begins a put that the server knows of, but cannot answer before it is half-closed. */
  private OpenPut openPut(ServerProcess server) throws Exception {
    final IndexGrpc.IndexBlockingStub stub = connect(server);
    final OpenPut put = new OpenPut(channel);
    put.call.sendMessage(PUT);
    // Goes over the same connection, behind the put: once it is answered, the put has arrived.
    stub.get(GetRequest.newBuilder().setKey(KEY).build());
    return put;
  }

  /** A put whose end the test decides. */
  private static final class OpenPut extends ClientCall.Listener<PutResponse> {
    final ClientCall<PutRequest, PutResponse> call;
    final CompletableFuture<PutResponse> response = new CompletableFuture<>();
    private final ManagedChannel channel;
    private final CompletableFuture<Status> status = new CompletableFuture<>();

    OpenPut(ManagedChannel channel) {
      this.channel = channel;
      call =
          channel.newCall(
              IndexGrpc.getPutMethod(),
              CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS));
      call.start(this, new Metadata());
      call.request(1);
    }

    /**
     * Sends SIGTERM and waits until the server took notice: it tells its connections to go away.
     */
    void terminateUnder(ServerProcess server) throws InterruptedException {
      final CountDownLatch left = new CountDownLatch(1);
      channel.notifyWhenStateChanged(ConnectivityState.READY, left::countDown);
      server.terminate();
      assertTrue(left.await(DEADLINE_SECONDS, TimeUnit.SECONDS), "connection is still used");
    }

    Status awaitStatus() throws Exception {
      return status.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void onMessage(PutResponse message) {
      response.complete(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      this.status.complete(status);
    }
  }
}

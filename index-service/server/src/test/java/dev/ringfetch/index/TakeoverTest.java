package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.ScanRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Direct reads of a server process: while it serves, after its end, and under its successor. */
@Tag("slow")
@Timeout(120)
class TakeoverTest {
  private static final int ENTRIES = 500;
  private static final ByteString MISSING = ByteString.copyFromUtf8("missing");

  private final DirectValue found = new DirectValue();

  @TempDir Path shm;
  @TempDir Path data;

  private ServerProcess server;
  private ManagedChannel channel;
  private int port;

  @BeforeEach
  void start() throws Exception {
    server = start(0);
    port = server.awaitPort();
    channel = ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    load("first ");
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.close();
  }

  private ServerProcess start(int at) throws Exception {
    return ServerProcess.start("--port=" + at, "--shm-directory=" + shm, "--data=" + data);
  }

  @Test
  void readsOfAKilledServerGoOnUntilItsSuccessorServes() throws Exception {
    try (DirectReader reader = openReader()) {
      assertReads(reader, "first ");
      for (int i = 0; i < ENTRIES; i++) {
        assertEquals(
            found(reader, i),
            stub().get(GetRequest.newBuilder().setKey(key(i)).build()).getEntry().getValue());
      }
      server.close(); // kill -9
      assertEquals(128 + 9, server.awaitExit());
      assertReads(reader, "first ");
      assertFalse(reader.get(MISSING, found), "absence needs no server either");
      assertEquals(0, reader.callReads());
      assertEquals(0, reader.turns());

      server = start(port);
      assertEquals(port, server.awaitPort());
      // It has moved the gate, and begins without entries.
      assertFalse(getByCall(reader, key(0)));
      assertEquals(1, reader.turns());
      load("second ");
      while (!reader.isDirect()) {
        assertTrue(reader.get(key(0), found));
        Thread.sleep(1);
      }
      assertReads(reader, "second ");
    }
  }

  /** Of an ordered index: memory needs no server, and a successor has another index. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scanOfAKilledServerGoesOnUntilItsSuccessorServes(boolean reverse) throws Exception {
    final List<ByteString> all = new ArrayList<>();
    for (int i = 0; i < ENTRIES; i++) {
      all.add(ByteString.copyFromUtf8(String.format("%04d", reverse ? ENTRIES - 1 - i : i)));
      final PutResponse unused =
          stub().put(PutRequest.newBuilder().setIndex("ordered").setKey(all.get(i)).build());
    }
    final ScanRequest request = ScanRequest.newBuilder().setReverse(reverse).build();
    try (DirectReader reader =
        DirectReader.open(channel, "ordered", new DirectContext().shmDirectory(shm))) {
      assertTrue(reader.isDirect(), reader::obstacle);
      final List<ByteString> keys = new ArrayList<>();
      final DirectScan killed = new DirectScan(request);
      assertTrue(reader.scan(killed, entry -> keys.add(entry.key()) && keys.size() < 100));
      final DirectScan begun = new DirectScan(request);
      assertTrue(reader.scan(begun, entry -> false));
      server.close(); // kill -9
      assertEquals(128 + 9, server.awaitExit());
      assertFalse(reader.scan(killed, entry -> keys.add(entry.key())));
      assertEquals(all, keys);
      assertEquals(0, reader.scanCalls());

      server = start(port);
      assertEquals(port, server.awaitPort());
      final StatusRuntimeException ended =
          assertThrows(
              StatusRuntimeException.class,
              () -> {
                while (true) { // the channel may still have to find the successor
                  try {
                    reader.scan(begun, entry -> true);
                    return;
                  } catch (StatusRuntimeException e) {
                    if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
                      throw e;
                    }
                  }
                  Thread.sleep(10);
                }
              });
      assertEquals(Status.Code.ABORTED, ended.getStatus().getCode());
      assertEquals(1, reader.turns());
    }
  }

  /** Each failure lengthens the pause until the channel tries to connect again. */
  @Test
  void callsThatFailWhileThereIsNoServerDelayNoReadUnderTheSuccessor() throws Exception {
    try (DirectReader reader = openReader()) {
      server.close(); // kill -9
      assertEquals(128 + 9, server.awaitExit());
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(12);
      while (System.nanoTime() < endNs) {
        final IndexGrpc.IndexBlockingStub impatient =
            IndexGrpc.newBlockingStub(channel).withDeadlineAfter(50, TimeUnit.MILLISECONDS);
        assertThrows(
            StatusRuntimeException.class,
            () -> impatient.get(GetRequest.newBuilder().setKey(key(0)).build()));
        Thread.sleep(50);
      }
      assertReads(reader, "first ");
      server = start(port);
      assertEquals(port, server.awaitPort());
      final long startNs = System.nanoTime();
      assertFalse(getByCall(reader, key(0)));
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(3), "it waits for a timer");
    }
  }

  @Test
  void successorThatCannotListenLeavesTheDeadReadable() throws Exception {
    try (DirectReader reader = openReader()) {
      server.close(); // kill -9
      assertEquals(128 + 9, server.awaitExit());
      try (ServerSocket taken = new ServerSocket(0);
          ServerProcess second = start(taken.getLocalPort())) {
        assertEquals(1, second.awaitExit());
      }
      assertReads(reader, "first ");
      assertEquals(0, reader.turns());
    }
  }

  /** No gate says there that the server has gone: the reader asks. */
  @Test
  void withoutADataDirectoryReadersLeaveAKilledServer() throws Exception {
    final String directory = "--shm-directory=" + shm;
    ServerProcess alone = ServerProcess.start("--port=0", directory);
    final int at = alone.awaitPort();
    final ManagedChannel own =
        ManagedChannelBuilder.forAddress("localhost", at).usePlaintext().build();
    try (DirectReader reader = DirectReader.open(own, "", new DirectContext().shmDirectory(shm))) {
      assertTrue(reader.isDirect(), reader::obstacle);
      final long incarnation = reader.incarnation();
      assertFalse(reader.get(key(0), found));
      alone.close(); // kill -9
      alone = ServerProcess.start("--port=" + at, directory);
      assertEquals(at, alone.awaitPort());
      while (reader.incarnation() == incarnation || !reader.isDirect()) {
        try {
          assertFalse(reader.get(key(0), found));
        } catch (StatusRuntimeException e) { // between the two
          assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
        }
        Thread.sleep(1);
      }
      assertTrue(reader.turns() > 0);
    } finally {
      own.shutdownNow();
      alone.close();
    }
  }

  @Test
  void orderlyStopClosesTheGate() throws Exception {
    try (DirectReader reader = openReader()) {
      assertReads(reader, "first ");
      server.terminate();
      assertEquals(128 + 15, server.awaitExit());
      assertEquals(List.of(), server.errors());
      final StatusRuntimeException ended =
          assertThrows(StatusRuntimeException.class, () -> reader.get(key(0), found));
      assertEquals(Status.Code.UNAVAILABLE, ended.getStatus().getCode());
      assertEquals(1, reader.turns());
    }
  }

  /** The gate is a file of the process's own there. Seen apart from what ends with a connection. */
  @Test
  void orderlyStopClosesTheGateWithoutADataDirectory() throws Exception {
    try (ServerProcess alone = ServerProcess.start("--port=0", "--shm-directory=" + shm);
        Fabric fabric = FabricProviders.open("shm", new FabricContext().directory(shm))) {
      final ManagedChannel own =
          ManagedChannelBuilder.forAddress("localhost", alone.awaitPort()).usePlaintext().build();
      try {
        final FabricHint hint =
            FabricHint.newBuilder()
                .setFabric("shm")
                .setHint(ByteString.copyFrom(fabric.hint()))
                .build();
        final GrantResponse grant =
            DirectAccessGrpc.newBlockingStub(own)
                .withDeadlineAfter(60, TimeUnit.SECONDS)
                .grant(GrantRequest.newBuilder().addFabrics(hint).build());
        final RemoteDomain domain =
            fabric.connectDomain(
                grant.getDomain().toByteArray(),
                grant.getToken().toByteArray(),
                TimeUnit.SECONDS.toNanos(60));
        final GateView gate = new GateView(domain.view(RemoteDomain.GATE));
        assertTrue(gate.isOpen(grant.getEpoch()));
        alone.terminate();
        assertEquals(128 + 15, alone.awaitExit());
        assertFalse(gate.isOpen(grant.getEpoch()));
      } finally {
        own.shutdownNow();
      }
    }
  }

  @Test
  void dataDirectoryInUseIsOneLineAndExitCodeOne() throws Exception {
    try (ServerProcess second = start(0)) {
      assertEquals(1, second.awaitExit());
      assertEquals(
          List.of("index server: another server owns the directory: data=" + data.toRealPath()),
          second.errors());
    }
    try (DirectReader reader = openReader()) {
      assertReads(reader, "first "); // the first one's gate is where it was
    }
  }

  private DirectReader openReader() {
    final DirectReader reader =
        DirectReader.open(channel, "", new DirectContext().shmDirectory(shm));
    assertTrue(reader.isDirect(), reader::obstacle);
    return reader;
  }

  /** A read that needs the server, which its channel may still have to find. */
  private boolean getByCall(DirectReader reader, ByteString key) throws InterruptedException {
    while (true) {
      try {
        return reader.get(key, found);
      } catch (StatusRuntimeException e) {
        assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
        Thread.sleep(10);
      }
    }
  }

  private void assertReads(DirectReader reader, String prefix) {
    final long calls = reader.callReads();
    for (int i = 0; i < ENTRIES; i++) {
      assertEquals(value(prefix, i), found(reader, i));
    }
    assertEquals(calls, reader.callReads());
  }

  private ByteString found(DirectReader reader, int number) {
    assertTrue(reader.get(key(number), found));
    return found.value();
  }

  private void load(String prefix) {
    final IndexGrpc.IndexBlockingStub stub = stub();
    for (int i = 0; i < ENTRIES; i++) {
      assertTrue(
          stub.put(PutRequest.newBuilder().setKey(key(i)).setValue(value(prefix, i)).build())
              .getCreated());
    }
  }

  private IndexGrpc.IndexBlockingStub stub() {
    return IndexGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  private static ByteString value(String prefix, int number) {
    return ByteString.copyFromUtf8(prefix + number);
  }
}

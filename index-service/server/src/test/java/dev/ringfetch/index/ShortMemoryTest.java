package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A directory of shared memory that has no room for two servers' indexes. */
@Timeout(180)
class ShortMemoryTest {
  private static final int MIB = 1 << 20;

  /** Room for four segments: the index has three, and a start needs as many. */
  private static final long LENGTH = 20L * MIB;

  private static final int ENTRIES = 9;

  @TempDir Path shm;
  @TempDir Path data;

  private ServerProcess server;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws Exception {
    start(0, LENGTH);
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    for (int i = 0; i < ENTRIES; i++) {
      put(i);
    }
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.close();
  }

  private void start(int port, long length, String... more) throws Exception {
    server =
        ServerProcess.startOnSmallHost(
            length,
            List.of(
                    List.of(
                        "--port=" + port,
                        "--shm-directory=" + shm,
                        "--data=" + data,
                        "--durability=disk"),
                    List.of(more))
                .stream()
                .flatMap(List::stream)
                .toArray(String[]::new));
  }

  @Tag("slow")
  @Test
  void successorGivesUpTheMemoryOfAKilledServerWhenItNeedsTheRoom() throws Exception {
    try (DirectReader reader =
        DirectReader.open(channel, "", new DirectContext().shmDirectory(shm))) {
      final DirectValue found = new DirectValue();
      for (int round = 0; round < 2; round++) {
        final int port = Integer.parseInt(channel.authority().replaceAll(".*:", ""));
        server.close(); // kill -9
        assertEquals(128 + 9, server.awaitExit());
        if (round == 0) {
          for (int i = 0; i < ENTRIES; i++) { // readers need no server
            assertTrue(reader.get(key(i), found));
          }
          assertEquals(0, reader.turns());
        }
        start(port, LENGTH);
        assertEquals(port, server.awaitPort());
        assertEquals(
            ENTRIES, stub().describe(DescribeRequest.getDefaultInstance()).getIndex().getEntries());
        for (int i = 0; i < ENTRIES; i++) {
          assertEquals(
              MIB - 64,
              stub()
                  .get(GetRequest.newBuilder().setKey(key(i)).build())
                  .getEntry()
                  .getValue()
                  .size());
        }
      }
      assertTrue(readBySuccessor(reader, found));
    }
  }

  @Test
  void fullDirectoryIsNamedWithItsSizes() throws Exception {
    final StatusRuntimeException full =
        assertThrows(
            StatusRuntimeException.class,
            () -> {
              for (int i = ENTRIES; i < 100; i++) {
                put(i);
              }
            });
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, full.getStatus().getCode());
    assertTrue(full.getMessage().contains("limit=16777216 bytes"), full::toString);
    assertTrue(full.getMessage().contains("the default for " + shm), full::toString);
  }

  /** The words are those of what is short, which is not the limit of index memory. */
  @Tag("slow")
  @Test
  void startWithoutRoomSaysWhatIsShort() throws Exception {
    server.close();
    assertEquals(128 + 9, server.awaitExit());
    start(0, 8L * MIB, "--memory=16M"); // of which the first segment has room
    assertEquals(1, server.awaitExit());
    final List<String> errors = server.errors();
    final String last = errors.get(errors.size() - 1);
    assertTrue(last.contains("the journal does not fit: index memory cannot grow"), last);
    assertTrue(last.contains("directory=" + shm + " has too little room"), errors::toString);
    assertTrue(last.contains(" of 8 MiB"), errors::toString);
    assertFalse(last.contains("--memory"), errors::toString);
    start(0, LENGTH); // nothing was lost, and nothing is in the way
    server.awaitPort();
  }

  private boolean readBySuccessor(DirectReader reader, DirectValue found) throws Exception {
    while (true) {
      try {
        return reader.get(key(0), found) && reader.turns() > 0;
      } catch (StatusRuntimeException e) { // the channel may still have to find the successor
        assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
        Thread.sleep(10);
      }
    }
  }

  private void put(int number) {
    assertTrue(
        stub()
            .put(
                PutRequest.newBuilder()
                    .setKey(key(number))
                    .setValue(ByteString.copyFrom(new byte[MIB - 64]))
                    .build())
            .getCreated());
  }

  private IndexGrpc.IndexBlockingStub stub() {
    return IndexGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }
}

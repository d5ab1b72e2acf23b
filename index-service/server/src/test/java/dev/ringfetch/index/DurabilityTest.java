package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server processes that are killed at random while clients write: with durability DISK, the next
 * one has every write that was answered, and of each that was not either all or nothing. Each key
 * has one writer, which writes ascending numbers, so that its last answer says what must be there.
 *
 * <p>{@code -Dringfetch.kills=200} kills more often.
 */
@Tag("slow")
@Timeout(1200)
class DurabilityTest {
  private static final int KILLS = Integer.getInteger("ringfetch.kills", 4);
  private static final int WRITERS = 4;
  private static final int KEYS = 50;
  private static final List<IndexKind> KINDS = List.of(IndexKind.HASH, IndexKind.ORDERED);

  @TempDir Path shm;
  @TempDir Path data;

  /** What a writer knows of one key. */
  private static final class Known {
    /** The number that was answered last, and the one that was sent last; 0: no entry. */
    long answered;

    long sent;

    /** Whether what was sent last was a delete. */
    boolean deleting;

    long version;
  }

  private static final class Writer extends Thread {
    private final IndexGrpc.IndexBlockingStub stub;
    private final Known[][] known;
    private final int number;
    private final Random random;
    private int answers;

    Writer(IndexGrpc.IndexBlockingStub stub, Known[][] known, int number, long seed) {
      this.stub = stub;
      this.known = known;
      this.number = number;
      random = new Random(seed);
    }

    @Override
    public void run() {
      try {
        while (true) {
          final int kind = random.nextInt(KINDS.size());
          final int key = random.nextInt(KEYS);
          write(KINDS.get(kind).name(), known[kind][key], key(number, key));
          answers++;
        }
      } catch (StatusRuntimeException e) {
        // the server was killed
      }
    }

    private void write(String index, Known key, ByteString bytes) {
      if (key.answered != 0 && random.nextInt(5) == 0) {
        key.deleting = true;
        final boolean existed =
            stub.delete(DeleteRequest.newBuilder().setIndex(index).setKey(bytes).build())
                .getExisted();
        assertTrue(existed);
        key.answered = 0;
        key.deleting = false;
        return;
      }
      key.sent++;
      final long version =
          stub.put(
                  PutRequest.newBuilder()
                      .setIndex(index)
                      .setKey(bytes)
                      .setValue(value(key.sent, random))
                      .build())
              .getVersion();
      assertTrue(version > key.version, "version=" + version + " before=" + key.version);
      key.version = version;
      key.answered = key.sent;
    }
  }

  private static ByteString key(int writer, int key) {
    return ByteString.copyFromUtf8("writer " + writer + " key " + key);
  }

  /** A number, and as many bytes as it takes to see a half of it. */
  private static ByteString value(long number, Random random) {
    return ByteString.copyFromUtf8((number + ";").repeat(1 + random.nextInt(60)));
  }

  private static long number(ByteString value) {
    final String[] numbers = value.toStringUtf8().split(";", 0);
    for (final String number : numbers) {
      assertEquals(numbers[0], number);
    }
    return Long.parseLong(numbers[0]);
  }

  @Test
  void answeredWritesSurviveEachKill() throws Exception {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    final Random random = new Random(seed);
    final Known[][][] known = new Known[WRITERS][KINDS.size()][KEYS];
    for (final Known[][] writer : known) {
      for (final Known[] kind : writer) {
        for (int i = 0; i < KEYS; i++) {
          kind[i] = new Known();
        }
      }
    }
    long answers = 0;
    int unanswered = 0;
    for (int kill = 0; kill <= KILLS; kill++) {
      try (ServerProcess server =
          ServerProcess.start(
              "--port=0", "--shm-directory=" + shm, "--data=" + data, "--durability=disk")) {
        final ManagedChannel channel =
            ManagedChannelBuilder.forAddress("localhost", server.awaitPort())
                .usePlaintext()
                .build();
        try {
          final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
          createIndexes(channel);
          for (int writer = 0; writer < WRITERS; writer++) {
            unanswered += check(stub, known[writer], writer);
          }
          answers += kill(server, stub, known, random);
        } finally {
          channel.shutdownNow();
        }
      }
    }
    System.out.printf(
        "seed=%d kills=%d answers=%d unanswered-but-done=%d%n",
        seed, KILLS + 1, answers, unanswered);
    assertTrue(answers > 10L * KILLS, "answers=" + answers);
  }

  private static void createIndexes(ManagedChannel channel) {
    for (final IndexKind kind : KINDS) {
      final var unused =
          IndexAdminGrpc.newBlockingStub(channel)
              .createIndex(
                  CreateIndexRequest.newBuilder()
                      .setIndex(kind.name())
                      .setKind(kind)
                      .setDurability(Durability.DISK)
                      .build());
    }
  }

  private long kill(
      ServerProcess server, IndexGrpc.IndexBlockingStub stub, Known[][][] known, Random random)
      throws Exception {
    final List<Writer> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      final Writer writer = new Writer(stub, known[i], i, random.nextLong());
      writers.add(writer);
      writer.start();
    }
    TimeUnit.MILLISECONDS.sleep(50 + random.nextInt(500));
    server.close(); // SIGKILL
    long answers = 0;
    for (final Writer writer : writers) {
      writer.join();
      answers += writer.answers;
    }
    return answers;
  }

  /** Compares what is there with what was answered; returns how many others were done. */
  private static int check(IndexGrpc.IndexBlockingStub stub, Known[][] known, int writer) {
    int done = 0;
    for (int kind = 0; kind < KINDS.size(); kind++) {
      for (int i = 0; i < KEYS; i++) {
        final Known key = known[kind][i];
        final GetResponse found =
            stub.get(
                GetRequest.newBuilder()
                    .setIndex(KINDS.get(kind).name())
                    .setKey(key(writer, i))
                    .build());
        final long number = found.hasEntry() ? number(found.getEntry().getValue()) : 0;
        final boolean wasOpen = number != key.answered;
        assertTrue(
            !wasOpen || number == key.sent || (key.deleting && number == 0),
            KINDS.get(kind)
                + " writer="
                + writer
                + " key="
                + i
                + " found="
                + number
                + " answered="
                + key.answered
                + " sent="
                + key.sent);
        final long version = found.getEntry().getVersion();
        assertTrue(
            number == 0 || (wasOpen ? version > key.version : version == key.version),
            "version=" + version + " before=" + key.version);
        done += wasOpen ? 1 : 0;
        key.answered = number;
        key.deleting = false;
        key.version = Math.max(key.version, version);
      }
    }
    return done;
  }
}

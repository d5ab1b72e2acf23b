package dev.ringfetch.index.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers in processes of their own: one that was alone becomes the first node of a cluster. */
@Timeout(300)
final class AdoptedServerTest {
  private static final int PATIENCE_SECONDS = Integer.getInteger("ringfetch.patience", 60);
  private static final Pattern PORT = Pattern.compile("listening on port ([0-9]+)");
  private static final int ENTRIES = 50;
  private static final long HOUR_MILLIS = 3_600_000;
  private static final List<Durability> LEVELS =
      List.of(Durability.DISK, Durability.LEADER_DISK, Durability.INTERVAL, Durability.MEMORY);

  @TempDir private Path directory;
  private ZooKeeperProcess zooKeeper;
  private final List<Server> servers = new ArrayList<>();

  /** A process. */
  private final class Server {
    private final Process process;
    private final Path output;
    private ManagedChannel channel;

    Server(String data, String... options) throws IOException {
      output = Files.createTempFile(directory, data, ".log");
      final List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.add(IndexServer.class.getName());
      command.addAll(List.of("--port=0", "--memory=64M", "--data", directory + "/" + data));
      command.addAll(List.of(options));
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      servers.add(this);
    }

    String output() {
      try {
        return new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
      } catch (IOException e) {
        return e.toString();
      }
    }

    Server await() {
      AdoptedServerTest.await(
          () -> output().contains(IndexServer.ADDRESSES) || !process.isAlive(), this::output);
      assertTrue(process.isAlive(), this::output);
      final Matcher port = PORT.matcher(output());
      assertTrue(port.find(), this::output);
      channel =
          Grpc.newChannelBuilder("localhost:" + port.group(1), InsecureChannelCredentials.create())
              .build();
      return this;
    }

    /** Waits for the end of a start that is refused; returns the output. */
    String refused() throws InterruptedException {
      assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), this::output);
      assertEquals(1, process.exitValue(), this::output);
      return output();
    }

    void end() throws InterruptedException {
      process.destroy();
      assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), this::output);
      channel.shutdownNow();
    }

    IndexGrpc.IndexBlockingStub calls() {
      return IndexGrpc.newBlockingStub(channel)
          .withWaitForReady()
          .withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    IndexAdminGrpc.IndexAdminBlockingStub admin() {
      return IndexAdminGrpc.newBlockingStub(channel)
          .withWaitForReady()
          .withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    Collection<GroupDescription> groups() {
      return admin().describeCluster(DescribeClusterRequest.getDefaultInstance()).getGroupsList();
    }
  }

  @FunctionalInterface
  private interface Condition {
    boolean holds();
  }

  private static void await(Condition condition, Supplier<String> otherwise) {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!condition.holds()) {
      assertTrue(System.nanoTime() - endNs < 0, otherwise);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  @BeforeEach
  void start() throws Exception {
    zooKeeper = ZooKeeperProcess.start(directory.resolve("zookeeper"), 0);
  }

  @AfterEach
  void end() throws Exception {
    for (final Server server : servers) {
      server.process.destroyForcibly().waitFor();
      if (server.channel != null) {
        server.channel.shutdownNow();
      }
    }
    zooKeeper.close();
  }

  private String cluster() {
    return "--cluster=zk://" + zooKeeper.address() + "/adopting";
  }

  private static ByteString key(int i) {
    return ByteString.copyFromUtf8("key" + i);
  }

  private static PutRequest.Builder put(String index, int i) {
    return PutRequest.newBuilder().setIndex(index).setKey(key(i)).setValue(key(1_000 + i));
  }

  private static void create(Server server, Durability level) {
    server
        .admin()
        .createIndex(
            CreateIndexRequest.newBuilder()
                .setIndex(level.name())
                .setKind(level == Durability.DISK ? IndexKind.ORDERED : IndexKind.HASH)
                .setDurability(level)
                .build());
  }

  /** Calls a server that leads, or another one. */
  private <T> T call(Function<Server, T> call) {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (true) {
      StatusRuntimeException failure = null;
      for (final Server server : servers) {
        if (server.process.isAlive()) {
          try {
            return call.apply(server);
          } catch (StatusRuntimeException e) {
            failure = e;
          }
        }
      }
      if (System.nanoTime() - endNs > 0) {
        throw failure;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  private static GetResponse get(Server server, String index, ByteString key) {
    return server.calls().get(GetRequest.newBuilder().setIndex(index).setKey(key).build());
  }

  /** All entries with their versions, incarnations and deadlines. */
  private Map<String, GetResponse> content() {
    final Map<String, GetResponse> content = new HashMap<>();
    for (final Durability level : LEVELS) {
      for (int i = 0; i < ENTRIES; i++) {
        final ByteString key = key(i);
        content.put(level.name() + i, call(server -> get(server, level.name(), key)));
      }
    }
    return content;
  }

  private void awaitGroups(Server asked, Predicate<GroupDescription> condition) {
    await(
        () -> asked.groups().stream().allMatch(condition),
        () -> asked.groups() + "\n" + asked.output());
  }

  private static Iterator<WatchResponse> watch(Server server, String index, ByteString token) {
    return server.calls().watch(WatchRequest.newBuilder().setIndex(index).setToken(token).build());
  }

  @Test
  void aServerAloneBecomesAClusterWithAllThatItHas() throws Exception {
    final Server alone = new Server("a").await();
    final Map<String, Long> clients = new HashMap<>();
    final Map<String, PutResponse> numbered = new HashMap<>();
    for (final Durability level : LEVELS) {
      create(alone, level);
      for (int i = 0; i < ENTRIES; i++) {
        alone.calls().put(put(level.name(), i).setTtlMs(i % 2 * HOUR_MILLIS).build());
      }
    }
    final Map<Durability, ByteString> old = new HashMap<>();
    final Map<Durability, ByteString> newest = new HashMap<>();
    for (final Durability level : LEVELS) {
      old.put(level, watch(alone, level.name(), ByteString.EMPTY).next().getToken());
      final long client =
          alone
              .calls()
              .openClient(OpenClientRequest.newBuilder().setIndex(level.name()).build())
              .getClient();
      clients.put(level.name(), client);
      numbered.put(level.name(), alone.calls().put(numbered(level, client)));
      newest.put(level, watch(alone, level.name(), ByteString.EMPTY).next().getToken());
    }
    final Map<String, GetResponse> before = content();
    alone.end();

    final String refusal = new Server("a", cluster()).refused();
    assertTrue(refusal.contains("add --adopt"), refusal);
    final Server adopted = new Server("a", cluster(), "--adopt").await();
    assertEquals(before, content());
    adopted.end();
    final Server first = new Server("a", cluster()).await(); // reads its journal as a node
    assertEquals(before, content());
    awaitGroups(first, group -> group.getReplicas() == 3 && group.getMembersCount() == 1);
    for (final Durability level : LEVELS) {
      assertEquals(
          numbered.get(level.name()),
          call(server -> server.calls().put(numbered(level, clients.get(level.name())))),
          "not again");
      first.calls().put(put(level.name(), ENTRIES + 1).build());
      final boolean isInterval = level == Durability.INTERVAL;
      checkWatch(first, level, old.get(level), ENTRIES, isInterval || level == Durability.MEMORY);
      checkWatch(first, level, newest.get(level), ENTRIES + 1, isInterval);
    }

    final Server second = new Server("b", cluster()).await();
    new Server("c", cluster()).await();
    awaitGroups(first, group -> group.getMembersCount() == 3 && group.getEstablished());
    first.process.destroyForcibly().waitFor();
    assertEquals(before, content());
    awaitGroups(second, GroupDescription::getEstablished);
    for (final Durability level : LEVELS) {
      call(server -> server.calls().put(put(level.name(), ENTRIES + 2).build()));
    }

    final String again = new Server("a").refused();
    assertTrue(again.contains("start it with the --cluster of that"), again);
    new Server("a", cluster(), "--adopt").await(); // as its service file may still say
    awaitGroups(second, group -> group.getMembersCount() == 3 && group.getEstablished());
    assertEquals(before, content());
  }

  /**
   * A watch goes on behind its token, or says that it cannot: at interval, as versions are left out
   * after each start, and at memory, if the record of the orderly end has later changes.
   */
  private static void checkWatch(
      Server server, Durability level, ByteString token, int next, boolean mayBeGone) {
    final ByteString key = key(next);
    final Iterator<WatchResponse> watch = watch(server, level.name(), token);
    try {
      boolean isThere = false;
      while (!isThere) { // those of other partitions may come first
        isThere =
            watch.next().getEventsList().stream().anyMatch(event -> event.getKey().equals(key));
      }
    } catch (StatusRuntimeException e) {
      assertTrue(mayBeGone, level + ": " + e);
      assertEquals(Status.Code.OUT_OF_RANGE, e.getStatus().getCode(), level.name());
    }
  }

  private static PutRequest numbered(Durability level, long client) {
    return put(level.name(), ENTRIES)
        .setNumber(RequestNumber.newBuilder().setClient(client).setNumber(1).setFirstIncomplete(1))
        .build();
  }

  @Test
  @Tag("slow")
  void aNameOfTwoIndexesIsRefusedAndTheServerIsAloneAsBefore() throws Exception {
    final Server alone = new Server("a").await();
    create(alone, Durability.DISK);
    alone.calls().put(put("DISK", 1).build());
    alone.end();
    final Server other = new Server("b", cluster()).await();
    call(
        unused -> {
          create(other, Durability.DISK);
          return true;
        });
    final String refusal = new Server("a", cluster(), "--adopt").refused();
    assertTrue(refusal.contains("drop one of the two: index=DISK"), refusal);
    assertTrue(refusal.contains("the directory is as before"), refusal);
    final Server again = new Server("a").await();
    assertEquals(key(1_001), get(again, "DISK", key(1)).getEntry().getValue());
    assertFalse(Files.exists(directory.resolve("b/coordinator")));
    again.end();

    other.admin().dropIndex(DropIndexRequest.newBuilder().setIndex("DISK").build());
    final Server adopted = new Server("a", cluster(), "--adopt").await();
    await(
        () -> {
          try {
            return get(adopted, "DISK", key(1)).hasEntry();
          } catch (StatusRuntimeException e) {
            return false;
          }
        },
        adopted::output);
    awaitGroups(adopted, group -> group.getMembersCount() == 2 && group.getEstablished());
  }
}

package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that containers and hosts leave to an index, by files as Linux has them. */
class HostMemoryTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 124 * MIB;

  @TempDir Path root;

  @BeforeEach
  void create() throws IOException {
    write("proc/meminfo", "MemTotal:       33554432 kB\nMemFree:         1024 kB\n");
    write("proc/self/cgroup", "0::/\n");
    write("proc/self/mountinfo", "34 30 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    Files.createDirectories(root.resolve("sys/fs/cgroup"));
  }

  private void write(String file, String content) throws IOException {
    final Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, content);
  }

  /** A group of version 2. */
  private void group(String path, String limit, long used, long cache) throws IOException {
    final String directory = "sys/fs/cgroup" + path + "/";
    write(directory + "memory.max", limit + "\n");
    write(directory + "memory.current", used + "\n");
    write(
        directory + "memory.stat",
        "anon 1\nfile 99\nshmem 5\ninactive_file "
            + cache / 2
            + "\nactive_file "
            + cache / 2
            + "\n");
  }

  private HostMemory memory() {
    return new HostMemory(root, HEAP, () -> HEAP / 4);
  }

  private HostMemory.Budget budget() {
    return memory().budget(null);
  }

  @Test
  void withoutLimitsThereIsTheDefault() throws IOException {
    assertEquals(new HostMemory.Budget(1L << 30, "the default"), budget());
    group("", "max", 5 * MIB, 0);
    assertEquals(1L << 30, budget().bytes());
    Files.delete(root.resolve("proc/self/mountinfo"));
    assertEquals(1L << 30, budget().bytes());
    Files.delete(root.resolve("proc/self/cgroup"));
    Files.delete(root.resolve("proc/meminfo"));
    assertEquals(1L << 30, budget().bytes());
  }

  @Test
  void containerLeavesWhatTheJvmDoesNotTake() throws IOException {
    group("", Long.toString(256 * MIB), 5 * MIB, 0);
    final HostMemory.Budget budget = budget();
    assertEquals(36 * MIB, budget.bytes());
    assertTrue(budget.toString().startsWith("36 MiB, the default for a container of 256 MiB"));
    assertTrue(budget.reason().endsWith("a heap of up to 124 MiB"), budget::reason);
    group("", Long.toString(64 * MIB), 5 * MIB, 0);
    assertEquals(IndexMemoryContext.BUDGET_MIN, budget().bytes());
  }

  @Test
  void smallestOfTheGroupsAroundCounts() throws IOException {
    write("proc/self/cgroup", "0::/pod/server\n");
    group("/pod/server", "max", 5 * MIB, 0);
    group("/pod", Long.toString(512 * MIB), 5 * MIB, 0);
    group("", Long.toString(2048 * MIB), 5 * MIB, 0);
    assertEquals(260 * MIB, budget().bytes());
    write("proc/self/cgroup", "0::/../elsewhere\n"); // seen from a namespace of its own
    assertEquals(1L << 30, budget().bytes());
  }

  @Test
  void versionOneHasFilesOfItsOwn() throws IOException {
    write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/0815\n0::/\n");
    write(
        "proc/self/mountinfo",
        """
        34 30 0:31 /docker/0815 /sys/fs/cgroup/memory rw shared:7 - cgroup cgroup rw,memory,cpu
        35 30 0:32 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
        """);
    final String directory = "sys/fs/cgroup/memory/";
    write(directory + "memory.limit_in_bytes", 512 * MIB + "\n");
    write(directory + "memory.usage_in_bytes", 400 * MIB + "\n");
    write(
        directory + "memory.stat",
        "inactive_file 7\ntotal_inactive_file " + 100 * MIB + "\ntotal_active_file 0\n");
    assertEquals(260 * MIB, budget().bytes());
    // 512 - (400 - 100) - 93 that the heap may take - 32 = 87
    assertNull(memory().shortage((int) (86 * MIB), null));
    assertTrue(memory().shortage((int) (88 * MIB), null).contains("used=300 MiB"));
    write(directory + "memory.limit_in_bytes", "9223372036854771712\n");
    assertNull(memory().shortage((int) (88 * MIB), null));
  }

  @Test
  void hostCountsAsAContainer() throws IOException {
    write("proc/meminfo", "MemTotal:       524288 kB\n");
    assertEquals(260 * MIB, budget().bytes());
    assertTrue(budget().reason().contains("a host of 512 MiB"), () -> budget().reason());
  }

  /** Writes until there is no room; returns what the last one ended with. */
  private static StatusRuntimeException fill(LocalServer server) {
    final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(server.channel());
    final StatusRuntimeException full =
        assertThrows(
            StatusRuntimeException.class,
            () -> {
              for (int i = 0; i < 64; i++) {
                stub.put(
                    PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("key" + i))
                        .setValue(ByteString.copyFrom(new byte[1 << 20]))
                        .build());
              }
            });
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, full.getStatus().getCode());
    return full;
  }

  /** It has taken over when it began to serve, and moves the gate no more. */
  @Test
  void aShortageIsNamedAlsoOnceASuccessorHasBegun(@TempDir Path data) throws Exception {
    group("", Long.toString(256 * MIB), 5 * MIB, 0);
    final IndexMemoryContext context =
        new IndexMemoryContext().host(memory()).budget(1L << 30).dataDirectory(data);
    try (LocalServer server = LocalServer.start(IndexMemory.ofProcess(context))) {
      GatePage.open(data.resolve("gate")).move(99);
      group("", Long.toString(256 * MIB), 140 * MIB, 0);
      final StatusRuntimeException full = fill(server);
      assertTrue(full.getMessage().contains("limit=256 MiB used=140 MiB"), full::getMessage);
    }
  }

  @Test
  void writesEndBeforeTheContainerIsFullAndAStartSaysWhy(@TempDir Path data) throws Exception {
    group("", Long.toString(256 * MIB), 5 * MIB, 0);
    final IndexMemoryContext context =
        new IndexMemoryContext()
            .host(memory())
            .budget(1L << 30)
            .dataDirectory(data)
            .durability(Durability.DISK);
    try (LocalServer server = LocalServer.start(IndexMemory.ofProcess(context))) {
      group("", Long.toString(256 * MIB), 140 * MIB, 0);
      final StatusRuntimeException full = fill(server);
      assertTrue(full.getMessage().contains("limit=256 MiB used=140 MiB"), full::getMessage);
      assertTrue(full.getMessage().contains("(-Xmx)"), full::getMessage);
    }
    group("", Long.toString(256 * MIB), 140 * MIB, 0);
    final IOException refused =
        assertThrows(IOException.class, () -> IndexMemory.ofProcess(context).close());
    assertTrue(refused.getMessage().contains("limit=256 MiB used=140 MiB"), refused::getMessage);
    group("", Long.toString(256 * MIB), 5 * MIB, 0);
    IndexMemory.ofProcess(context).close();
  }
}

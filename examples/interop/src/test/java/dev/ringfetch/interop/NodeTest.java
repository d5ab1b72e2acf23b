package dev.ringfetch.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.system.ShmTempDirFactory;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.testing.integration.EmptyProtos.Empty;
import io.grpc.testing.integration.TestServiceGrpc;
import io.grpc.testing.integration.TestServiceImpl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client of another language, of the registry of Node.js, makes all kinds of calls to a server
 * that has clients on rings at the same time.
 */
@Tag("slow") // it loads packages
@Timeout(240)
class NodeTest {
  private static final Path SCRIPTS = Path.of("src/test/js");

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @TempDir Path work;

  @Test
  void grpcJsBesideRings() throws Exception {
    for (final String tool : new String[] {"node", "npm"}) {
      final boolean there = isThere(tool);
      if (!there) {
        System.out.println("no client of another language: there is no " + tool);
      }
      assumeTrue(there, "there is no " + tool);
    }
    for (final String file : new String[] {"package.json", "interop.js"}) {
      Files.copy(SCRIPTS.resolve(file), work.resolve(file));
    }
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock");
    final ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
    final RingServer server =
        ServedInterop.ring(directory)
            .addService(new TestServiceImpl(executor))
            .addService(ProtoReflectionServiceV1.newInstance())
            .build()
            .start();
    final RingChannel channel =
        RingChannelBuilder.forAddress("localhost", server.getPort())
            .usePlaintext()
            .shmDirectory(directory)
            .requireFabric()
            .build();
    try {
      callBeside(channel, "localhost:" + server.getPort());
    } finally {
      channel.shutdownNow();
      server.shutdownNow().awaitTermination(30, TimeUnit.SECONDS);
      executor.shutdownNow();
    }
  }

  private void callBeside(RingChannel channel, String target) throws Exception {
    final TestServiceGrpc.TestServiceBlockingStub stub = TestServiceGrpc.newBlockingStub(channel);
    final AtomicBoolean stop = new AtomicBoolean();
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    assertEquals(Empty.getDefaultInstance(), stub.emptyCall(Empty.getDefaultInstance()));
    final Thread beside =
        new Thread(
            () -> {
              try {
                while (!stop.get()) {
                  stub.emptyCall(Empty.getDefaultInstance());
                }
              } catch (RuntimeException e) {
                failure.set(e);
              }
            },
            "beside");
    beside.start();
    final long before = channel.ringCalls();
    final String said;
    try {
      said = run("node", "interop.js", target);
    } finally {
      stop.set(true);
      beside.join();
    }
    assertTrue(said.startsWith("OK "), said);
    System.out.printf(
        "%s, beside %d calls over a ring%n", said.strip(), channel.ringCalls() - before);
    assertEquals(null, failure.get());
    assertTrue(channel.ringCalls() > before);
    assertEquals(0, channel.grpcCalls());
  }

  private static boolean isThere(String tool) throws InterruptedException {
    try {
      return new ProcessBuilder(tool, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private String run(String... command) throws Exception {
    final Process process =
        new ProcessBuilder(command).directory(work.toFile()).redirectErrorStream(true).start();
    final String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), output);
    return output;
  }
}

package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two applications in one JVM, each with Ringfetch and gRPC in a class loader of its own. */
final class UndeployedTest extends RingFixture {
  @Tag("slow")
  @Test
  void oneThatIsStoppedIsCollectedAndHurtsNoOther() throws Exception {
    final RingServer living = serve(Bytes.digesting());
    connect(builder().requireFabric());
    final WeakReference<ClassLoader> stopped = deployAndStop(directory);
    await(
        "collected",
        () -> {
          System.gc();
          try {
            Thread.sleep(100);
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          return stopped.get() == null;
        });
    assertEquals(
        "on a ring",
        JavaProcess.run(
            Visitor.class,
            List.of("-Dport=" + living.getPort(), "-Ddirectory=" + directory),
            "",
            null));
  }

  /** In a thread of its own: gRPC and netty leave things of theirs in the locals of threads. */
  private static WeakReference<ClassLoader> deployAndStop(Path directory) throws Exception {
    final CompletableFuture<WeakReference<ClassLoader>> stopped = new CompletableFuture<>();
    final Thread thread =
        new Thread(
            () -> {
              try {
                final ClassLoader loader =
                    new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader());
                final Class<?> visitor = loader.loadClass(Visitor.class.getName());
                assertNotSame(Visitor.class, visitor);
                final Method serve = visitor.getDeclaredMethod("serveOneCall", String.class);
                serve.setAccessible(true);
                serve.invoke(null, directory.toString());
                stopped.complete(new WeakReference<>(loader));
              } catch (Throwable t) {
                stopped.completeExceptionally(t);
              }
            });
    thread.start();
    thread.join();
    return stopped.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  private static URL[] classPath() throws IOException {
    final List<URL> path = new ArrayList<>();
    for (final String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      path.add(Path.of(entry).toUri().toURL());
    }
    return path.toArray(new URL[0]);
  }

  /** What an application does, and what another process does. */
  static final class Visitor {
    private Visitor() {}

    /** A server, a channel with a ring, deadlines, and the end of all of them. */
    static void serveOneCall(String directory) throws Exception {
      final RingServer server =
          RingServerBuilder.forPort(0)
              .shmDirectory(Path.of(directory))
              .addService(service(Bytes.digesting()))
              .build()
              .start();
      callOnARing(server.getPort(), directory);
      server.shutdown();
      if (!server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the server does not end");
      }
    }

    private static void callOnARing(int port, String directory) throws Exception {
      final RingChannel channel =
          RingChannelBuilder.forAddress("localhost", port)
              .usePlaintext()
              .shmDirectory(Path.of(directory))
              .requireFabric()
              .build();
      if (call(channel, 3).length != 3) {
        throw new IllegalStateException("another answer");
      }
      channel.shutdown();
      assertTerminates(channel);
    }

    public static void main(String[] args) throws Exception {
      callOnARing(Integer.getInteger("port"), System.getProperty("directory"));
      System.out.println("on a ring");
    }
  }
}

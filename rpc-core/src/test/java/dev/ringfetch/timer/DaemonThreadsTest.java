package dev.ringfetch.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.security.ProtectionDomain;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Threads of the process keep nothing of the application that was the first to need them. */
class DaemonThreadsTest {
  private static final long TIMEOUT_S = 30;

  /** The code of an application. */
  public static final class Application implements Function<Runnable, Thread> {
    public Application() {}

    @Override
    public Thread apply(Runnable task) {
      return DaemonThreads.create(task, "made by an application");
    }
  }

  /** A class loader with a copy of the application. */
  private static final class Loader extends ClassLoader {
    Loader() {
      super(DaemonThreadsTest.class.getClassLoader());
    }

    @SuppressWarnings("unchecked")
    Thread createThread(Runnable task) throws Exception {
      final String name = Application.class.getName();
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        final byte[] bytes = in.readAllBytes();
        final ProtectionDomain domain = new ProtectionDomain(null, null, this, null);
        final Class<?> copy = defineClass(name, bytes, 0, bytes.length, domain);
        final Constructor<?> constructor = copy.getDeclaredConstructor();
        return ((Function<Runnable, Thread>) constructor.newInstance()).apply(task);
      }
    }
  }

  @Test
  void threadIsInNoGroupOfAnApplication() throws Exception {
    final FutureTask<Thread> create = new FutureTask<>(() -> new Application().apply(() -> {}));
    new Thread(new ThreadGroup("application"), create).start();
    final Thread thread = create.get(TIMEOUT_S, TimeUnit.SECONDS);
    assertNull(thread.getThreadGroup().getParent());
    assertTrue(thread.isDaemon());
  }

  @Test
  void threadDoesNotKeepTheClassesOfAnApplication() throws Exception {
    final AtomicReference<Thread> created = new AtomicReference<>();
    final WeakReference<Loader> loader = create(created);
    final long startNs = System.nanoTime();
    while (loader.get() != null) {
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(TIMEOUT_S), "is kept");
      System.gc();
      Thread.sleep(1);
    }
    assertEquals(Thread.State.NEW, created.get().getState());
  }

  private static WeakReference<Loader> create(AtomicReference<Thread> thread) throws Exception {
    final Loader application = new Loader();
    thread.set(application.createThread(() -> {}));
    return new WeakReference<>(application);
  }
}

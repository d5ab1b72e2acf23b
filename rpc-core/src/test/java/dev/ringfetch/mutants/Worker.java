package dev.ringfetch.mutants;

import com.sun.management.OperatingSystemMXBean;
import dev.ringfetch.mutants.Verdict.Outcome;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.platform.engine.CancellationToken;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherExecutionRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * A JVM that runs suites, one a line of its input, on classes that it loads anew for each mutant;
 * so most mutants cost neither a JVM nor the loading of libraries. A suite ends at its first
 * failure. One that hangs ends the JVM.
 */
final class Worker {
  private static final String SLOW = "slow";
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static final long WATCH_INTERVAL_MS = 100;
  private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(90);
  private static final long IDLE_CPU_NS = TimeUnit.MILLISECONDS.toNanos(150);

  private final PrintStream out;
  private final Launcher launcher = LauncherFactory.create();
  private final Thread runner = Thread.currentThread();

  private ClassLoader loader = Worker.class.getClassLoader();
  private String folders = "";

  private volatile String running = "";
  private volatile long cpuLimitNs = Long.MAX_VALUE;
  private volatile long beginCpuNs;

  private Worker(PrintStream out) {
    this.out = out;
  }

  /** Reads lines of: class, folders to load it from or nothing, processor time allowed in ns. */
  public static void main(String[] args) throws Exception {
    final PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    final Worker worker = new Worker(out);
    final Thread watch = new Thread(worker::watch, "mutants-watch");
    watch.setDaemon(true);
    watch.start();
    final BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      final String[] fields = line.split("\t", -1);
      out.println(worker.run(fields[0], fields[1], Long.parseLong(fields[2])).encode());
    }
    Runtime.getRuntime().halt(0); // whatever threads a mutant has left
  }

  private Verdict run(String className, String classFolders, long limitNs)
      throws IOException, ReflectiveOperationException {
    if (!classFolders.equals(folders)) {
      folders = classFolders;
      loader = new ChildFirst(classFolders);
    }
    runner.setContextClassLoader(loader);
    final CancellationToken token = CancellationToken.create();
    final Listener listener = new Listener(token);
    beginCpuNs = SYSTEM.getProcessCpuTime();
    running = className;
    cpuLimitNs = limitNs;
    try {
      final Class<?> suite = Class.forName(className, false, loader);
      final LauncherDiscoveryRequestBuilder tests =
          LauncherDiscoveryRequestBuilder.request()
              .selectors(DiscoverySelectors.selectClass(suite))
              // A busy machine is no fault of the mutant: see watch.
              .configurationParameter("junit.jupiter.execution.timeout.mode", "disabled");
      final Tag tag = suite.getAnnotation(Tag.class);
      if (tag == null || !tag.value().equals(SLOW)) { // a suite that is slow itself was named
        tests.filters(TagFilter.excludeTags(SLOW));
      }
      launcher.execute(
          LauncherExecutionRequestBuilder.request(tests.build())
              .cancellationToken(token)
              .listeners(listener)
              .build());
    } finally {
      cpuLimitNs = Long.MAX_VALUE;
      running = "";
    }
    return verdict(listener.outcome(), listener.test(), listener.message);
  }

  private Verdict verdict(Outcome outcome, String test, String message) {
    return new Verdict(
        outcome,
        test,
        flat(message),
        SYSTEM.getProcessCpuTime() - beginCpuNs,
        Thread.activeCount());
  }

  private static String flat(String text) {
    final String flat = text.replaceAll("\\s+", " ");
    return flat.length() <= 200 ? flat : flat.substring(0, 200) + " ...";
  }

  /**
   * Ends the JVM when a suite takes too long. Processor time decides, as a busy machine has little
   * of it to give; a JVM that uses next to none for long waits for an event that does not come.
   */
  private void watch() {
    String watched = "";
    long sinceNs = 0;
    long sinceCpuNs = 0;
    while (true) {
      final long nowNs = System.nanoTime();
      final long cpuNs = SYSTEM.getProcessCpuTime();
      if (running.isEmpty() || !running.equals(watched) || cpuNs - sinceCpuNs > IDLE_CPU_NS) {
        watched = running;
        sinceNs = nowNs;
        sinceCpuNs = cpuNs;
      }
      final boolean spins = cpuNs - beginCpuNs > cpuLimitNs;
      if (spins || nowNs - sinceNs > IDLE_NS) {
        final String where =
            Arrays.stream(runner.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("dev.ringfetch."))
                .limit(3)
                .map(frame -> frame.getFileName() + ":" + frame.getLineNumber())
                .collect(Collectors.joining(" < "));
        out.println(
            verdict(Outcome.TIMED_OUT, running, (spins ? "spins at " : "waits at ") + where)
                .encode());
        Runtime.getRuntime().halt(3);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(WATCH_INTERVAL_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Notes the first failure, and lets nothing begin after it. */
  private final class Listener implements TestExecutionListener {
    private final CancellationToken token;
    private int passed;
    private String failed;
    private String message = "";

    Listener(CancellationToken token) {
      this.token = token;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
      running = test.getDisplayName();
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      switch (result.getStatus()) {
        case SUCCESSFUL -> passed += test.isTest() ? 1 : 0;
        case FAILED -> {
          if (failed == null) {
            failed = test.getDisplayName();
            message = result.getThrowable().map(Throwable::toString).orElse("");
          }
          token.cancel();
        }
        case ABORTED -> {}
      }
    }

    Outcome outcome() {
      if (failed != null) {
        return Outcome.FAILED;
      }
      return passed > 0 ? Outcome.PASSED : Outcome.EMPTY;
    }

    String test() {
      return failed != null ? failed : Integer.toString(passed);
    }
  }

  /** Loads from some folders first, and what is not there as everybody does. */
  private static final class ChildFirst extends URLClassLoader {
    ChildFirst(String folders) throws IOException {
      super(urls(folders), Worker.class.getClassLoader());
    }

    private static URL[] urls(String folders) throws IOException {
      final String[] paths = folders.split(":", -1);
      final URL[] urls = new URL[paths.length];
      for (int i = 0; i < paths.length; i++) {
        urls[i] = Path.of(paths[i]).toUri().toURL();
      }
      return urls;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        if (name.startsWith("dev.ringfetch.") && findLoadedClass(name) == null) {
          try {
            return findClass(name);
          } catch (ClassNotFoundException e) { // of another module: whole, like a library
            return super.loadClass(name, resolve);
          }
        }
        return super.loadClass(name, resolve);
      }
    }
  }
}

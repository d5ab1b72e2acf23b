package dev.ringfetch.session.handshake;

import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.timer.DaemonThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** An opened fabric with the pollers that serve its sessions, each in daemon threads. */
public final class PolledFabric implements AutoCloseable {
  /**
   * Limit of the wait for the ends of all pollers together, one of which may be stuck in a task.
   */
  private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

  private final Fabric fabric;
  private final Counters counters;
  private final List<Poller> pollers = new ArrayList<>();
  private final List<Poller> driven = new ArrayList<>();
  private final List<Subject> subjects = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  private PolledFabric(Fabric fabric, Counters counters) {
    this.fabric = fabric;
    this.counters = counters;
  }

  /** A fabric with a poller that no thread runs: the caller drives it. */
  public static PolledFabric undriven(Fabric fabric, Poller poller) {
    final PolledFabric undriven = new PolledFabric(fabric, poller.counters());
    undriven.pollers.add(poller);
    return undriven;
  }

  /**
   * Opens a fabric and starts its pollers.
   *
   * @param pollers how many.
   * @param threadName prefix of the threads' names.
   * @throws IOException when the fabric cannot be used, with the reason as its message.
   */
  public static PolledFabric open(
      FabricProvider provider,
      FabricContext fabricContext,
      SessionContext sessionContext,
      int pollers,
      String threadName)
      throws IOException {
    final PolledFabric opened =
        new PolledFabric(provider.open(fabricContext), sessionContext.counters());
    try {
      for (int i = 0; i < pollers; i++) {
        final Poller poller = opened.newPoller(sessionContext);
        final Thread thread = DaemonThreads.create(poller, threadName + "-" + i);
        opened.pollers.add(poller);
        opened.subjects.add(
            opened.counters.add(Kind.POLLER, thread.getName(), poller.tally()::get));
        thread.start();
        opened.driven.add(poller);
      }
    } catch (IOException | RuntimeException | Error e) { // there may be no thread to be had
      opened.abandon(e);
      throw e;
    }
    return opened;
  }

  private Poller newPoller(SessionContext context) throws IOException {
    final Doorbell doorbell = fabric.openDoorbell();
    try {
      return new Poller(doorbell, context);
    } catch (RuntimeException | Error e) {
      doorbell.close();
      throw e;
    }
  }

  /** Closes the parts of a fabric that could not be opened completely. */
  private void abandon(Throwable failure) {
    try {
      for (final Poller poller : pollers) {
        if (!driven.contains(poller)) {
          poller.doorbell().close(); // no thread does
        }
      }
      close();
    } catch (RuntimeException | Error e) {
      failure.addSuppressed(e);
    }
  }

  /** The fabric. */
  public Fabric fabric() {
    return fabric;
  }

  /**
   * The poller that the next session goes to, in turn; none that has failed or was closed.
   *
   * @throws IOException when there is no other.
   */
  public Poller nextPoller() throws IOException {
    final int first = next.getAndIncrement() & Integer.MAX_VALUE;
    for (int i = 0; i < pollers.size(); i++) {
      final Poller poller = pollers.get((first + i & Integer.MAX_VALUE) % pollers.size());
      if (!poller.isEnding()) {
        return poller;
      }
    }
    throw new IOException(
        "no thread serves the fabric any more: fabric="
            + fabric.name()
            + " pollers="
            + pollers.size());
  }

  /** Ends the sessions, the pollers and the fabric. */
  @Override
  public void close() {
    pollers.forEach(Poller::close);
    final long startNs = System.nanoTime();
    boolean interrupted = false;
    for (final Poller poller : driven) {
      try {
        poller.awaitEnd(CLOSE_TIMEOUT_NS - (System.nanoTime() - startNs));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    subjects.forEach(counters::remove);
    fabric.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

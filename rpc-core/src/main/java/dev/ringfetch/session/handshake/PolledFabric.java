package dev.ringfetch.session.handshake;

import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** An opened fabric with the pollers that serve its sessions, each in daemon threads. */
public final class PolledFabric implements AutoCloseable {
  private static final long CLOSE_TIMEOUT_MS = 5_000;

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
        final Poller poller = new Poller(opened.fabric.openDoorbell(), sessionContext);
        final Thread thread = new Thread(poller, threadName + "-" + i);
        thread.setDaemon(true);
        opened.pollers.add(poller);
        opened.subjects.add(
            opened.counters.add(Kind.POLLER, thread.getName(), poller.tally()::get));
        thread.start();
        opened.driven.add(poller);
      }
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
    return opened;
  }

  /** The fabric. */
  public Fabric fabric() {
    return fabric;
  }

  /** The poller that the next session goes to. */
  public Poller nextPoller() {
    return pollers.get((next.getAndIncrement() & Integer.MAX_VALUE) % pollers.size());
  }

  /** Ends the sessions, the pollers and the fabric. */
  @Override
  public void close() {
    pollers.forEach(Poller::close);
    boolean interrupted = false;
    for (final Poller poller : driven) {
      try {
        poller.awaitEnd(CLOSE_TIMEOUT_MS);
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

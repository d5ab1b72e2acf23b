package dev.ringfetch.session;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.sim.SimDoorbell;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.session.handshake.HandshakeSteps;
import dev.ringfetch.session.handshake.PolledFabric;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerSteps;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** A process of a simulation: its end of the fabric, and the poller that serves its sessions. */
abstract class SimProcess {
  final Simulation simulation;
  final SimFabric fabric;
  final SimDoorbell doorbell;
  final Poller poller;
  final PolledFabric polled;

  /** Ends of streams that the application has not done with. */
  final List<SimFlow> flows = new ArrayList<>();

  private long stalledUntilNs;

  SimProcess(Simulation simulation) {
    this.simulation = simulation;
    this.fabric = simulation.network.open();
    this.doorbell = (SimDoorbell) fabric.openDoorbell();
    this.poller = new Poller(doorbell, simulation.context);
    this.polled = HandshakeSteps.undriven(fabric, poller);
  }

  /** False while it is stalled, and when it is dead. */
  final boolean isRunning(long nowNs) {
    return !fabric.isDead() && stalledUntilNs <= nowNs;
  }

  /** Nothing in it goes on before then. */
  final void stallUntil(long timeNs) {
    stalledUntilNs = timeNs;
  }

  final long stalledUntilNs() {
    return stalledUntilNs;
  }

  final boolean isDead() {
    return fabric.isDead();
  }

  /** The thread that runs the poller. */
  final class PollerThread extends SimActor {
    private boolean asleep;
    private long wakeNs;

    PollerThread(String name) {
      super(name, SimProcess.this);
    }

    @Override
    boolean isReady(long nowNs) {
      return !asleep || doorbell.isRung() || wakeNs <= nowNs;
    }

    @Override
    long wakeNs() {
      return asleep ? wakeNs : Long.MAX_VALUE;
    }

    /** As {@link Poller#run} and {@link Poller#sleep}, but for what happens while it sleeps. */
    @Override
    void step() {
      try {
        if (asleep) {
          asleep = false;
          doorbell.await(0);
          PollerSteps.endSleep(poller);
        } else if (poller.doWork() == 0 && PollerSteps.isIdle(poller)) {
          fallAsleep();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void fallAsleep() {
      final long timeoutNs = PollerSteps.beginSleep(poller, true);
      if (timeoutNs == PollerSteps.AWAKE) {
        PollerSteps.endSleep(poller);
      } else {
        asleep = true;
        wakeNs =
            timeoutNs == Doorbell.FOREVER
                ? Long.MAX_VALUE
                : simulation.timeline.nowNs() + timeoutNs;
      }
    }
  }

  /** A thread of the application that reads and writes streams. */
  final class StreamThread extends SimActor {
    private final List<SimFlow> ready = new ArrayList<>();

    StreamThread(String name) {
      super(name, SimProcess.this);
    }

    @Override
    boolean isReady(long nowNs) {
      for (int i = 0; i < flows.size(); i++) {
        if (flows.get(i).canGoOn(nowNs)) {
          return true;
        }
      }
      return false;
    }

    @Override
    long wakeNs() {
      long wakeNs = Long.MAX_VALUE;
      for (int i = 0; i < flows.size(); i++) {
        wakeNs = Math.min(wakeNs, flows.get(i).wakeNs());
      }
      return wakeNs;
    }

    @Override
    void step() {
      ready.clear();
      final long nowNs = simulation.timeline.nowNs();
      for (final SimFlow flow : flows) {
        if (flow.canGoOn(nowNs)) {
          ready.add(flow);
        }
      }
      ready.get(simulation.timeline.random().nextInt(ready.size())).step();
    }
  }
}

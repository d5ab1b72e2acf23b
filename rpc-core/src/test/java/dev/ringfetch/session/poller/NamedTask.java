package dev.ringfetch.session.poller;

import java.util.List;

/** A task that writes into a list what becomes of it. */
class NamedTask extends LinkedTask {
  final String name;
  private final List<String> done;

  NamedTask(String name, List<String> done) {
    this.name = name;
    this.done = done;
  }

  @Override
  public void runInline() {
    done.add(name);
  }

  @Override
  public void handOver() {
    done.add(name + " handed over");
  }

  @Override
  public void ranInline(long durationNs, long processorNs, int parts) {}

  @Override
  public void overran(boolean waits) {}
}

package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.HeapFabric;

/** A session in which nothing happens. */
class IdleSession implements PolledSession {
  final PollerEntry entry = new PollerEntry(this, new HeapFabric(64).server().memory(), null);

  @Override
  public void bind() {}

  @Override
  public int service(boolean shared) {
    return 0;
  }

  @Override
  public boolean retire() {
    return true;
  }

  @Override
  public boolean probe() {
    return false;
  }

  @Override
  public void recover() {}

  @Override
  public void end(String reason) {}

  @Override
  public long earliestDeadlineNs() {
    return entry.publishedDeadlineNs();
  }

  @Override
  public String label() {
    return "idle";
  }

  @Override
  public long count(Counter counter) {
    return 0;
  }
}

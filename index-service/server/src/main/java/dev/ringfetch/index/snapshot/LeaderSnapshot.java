package dev.ringfetch.index.snapshot;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.outcome.NumberedClient;
import java.io.IOException;
import java.util.Iterator;

/** A snapshot of what a leader has applied; the owners of the partitions take the steps. */
public final class LeaderSnapshot extends PiecewiseSnapshot {
  private final ServedIndex index;
  private final IndexWalk walk;

  public LeaderSnapshot(ServedIndex index, long group, Runnable wake) {
    super(wake);
    this.index = index;
    walk = new IndexWalk(index, group, wake);
  }

  @Override
  IndexWalk.Step walk() throws IOException {
    return walk.step(this);
  }

  @Override
  Iterator<NumberedClient> clients() {
    return index.leadership().clients().walk();
  }
}

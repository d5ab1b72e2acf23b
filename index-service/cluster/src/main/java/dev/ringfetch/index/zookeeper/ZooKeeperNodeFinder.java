package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.client.NodeFinder;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A finder of the nodes of a cluster, for clients: reads the live nodes from ZooKeeper, and closes
 * the connection.
 */
public final class ZooKeeperNodeFinder implements NodeFinder {
  private static final long POLL_NS = 5_000_000;

  /** Creates the finder; called by the service loader. */
  public ZooKeeperNodeFinder() {}

  @Override
  public String scheme() {
    return ZooKeeperProvider.SCHEME;
  }

  @Override
  public List<String> find(URI address, Duration limit) throws IOException {
    final long endNs = System.nanoTime() + limit.toNanos();
    final Answer answer = new Answer();
    try (Coordinator coordinator = new ZooKeeperProvider().open(address)) {
      final Thread thread = Thread.currentThread();
      coordinator.wakeUp(() -> LockSupport.unpark(thread));
      while (!answer.complete) {
        if (coordinator.poll(answer) == 0) {
          LockSupport.parkNanos(this, POLL_NS);
        }
        if (thread.isInterrupted()) {
          throw new IOException("interrupted");
        }
        if (!answer.complete && System.nanoTime() - endNs >= 0) {
          throw new IOException("no answer within " + limit.toMillis() + " ms");
        }
      }
    }
    return answer.nodes;
  }

  /** The receiver of the live nodes, which come in the same poll as the connection. */
  private static final class Answer implements Coordinator.Listener {
    private List<String> nodes = List.of();
    private boolean complete;

    @Override
    public void onGroup(GroupState state) {}

    @Override
    public void onDropped(long group) {}

    @Override
    public void onDroppedGroups(Collection<Long> newest) {}

    @Override
    public void onNodes(Collection<Node> living) {
      nodes = living.stream().map(Node::getAddress).sorted().toList();
    }

    @Override
    public void onConnected(boolean connected) {
      complete = connected;
    }
  }
}

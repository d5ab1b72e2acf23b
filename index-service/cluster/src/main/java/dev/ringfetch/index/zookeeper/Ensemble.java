package dev.ringfetch.index.zookeeper;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.RetryPolicy;
import org.apache.curator.RetrySleeper;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;

/**
 * The connection to ZooKeeper: starts operations in the background, and queues their results until
 * {@link #drain}.
 *
 * <p>Curator keeps the session and replaces it when it has expired. It does not repeat operations:
 * a repeated change would hide whether its first attempt was carried out.
 *
 * <p>Used by one thread at a time; results arrive on threads of Curator and ZooKeeper.
 */
final class Ensemble implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(Ensemble.class.getName());
  private static final int CLOSE_WAIT_MILLIS = 1000;

  /** A receiver of the result of an operation, called by {@link #drain}. */
  @FunctionalInterface
  interface Completion {
    /**
     * Called at the end of the operation.
     *
     * @param event null if the operation could not be started
     */
    void onCompleted(Code code, CuratorEvent event);
  }

  /** A receiver of events other than results, called by {@link #drain}. */
  interface Listener {
    /** Called when there is a connection, in the same session or another. */
    void onConnected();

    /** Called when the connection is lost; the session may survive. */
    void onSuspended();

    /** Called when the session is lost. */
    void onLost();

    /** Reports a change at {@code path}; an empty path means that any node may have changed. */
    void onChanged(String path);
  }

  private final CuratorFramework client;
  private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private volatile Runnable wakeUp = () -> {};
  private volatile boolean closed;

  /** One instance for all watches: ZooKeeper notifies equal watchers once. */
  private final Watcher watcher;

  /** Starts to connect. */
  Ensemble(ZooKeeperAddress address, Listener listener) {
    final CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(address.hosts())
            .ensembleTracker(false) // the address alone names the hosts
            .sessionTimeoutMs(address.sessionTimeoutMillis())
            .connectionTimeoutMs(address.sessionTimeoutMillis())
            .maxCloseWaitMs(CLOSE_WAIT_MILLIS)
            .retryPolicy(new NoRetry())
            .zkClientConfig(address.config().client());
    if (address.config().hasUser()) {
      builder.aclProvider(new CreatorOnly());
    }
    client = builder.build();
    watcher = event -> onWatched(event, listener);
    client
        .getConnectionStateListenable()
        .addListener(
            (source, state) -> {
              switch (state) {
                case CONNECTED, RECONNECTED -> enqueue(listener::onConnected);
                case SUSPENDED -> enqueue(listener::onSuspended);
                case LOST -> enqueue(listener::onLost);
                case READ_ONLY -> {} // not asked for
              }
            });
    client
        .getCuratorListenable()
        .addListener(
            (source, event) -> {
              final WatchedEvent watched = event.getWatchedEvent();
              if (watched != null && watched.getState() == KeeperState.AuthFailed) {
                LOGGER.log(Level.ERROR, "ZooKeeper refuses the user or the password: {0}", address);
              }
            });
    client.start();
  }

  /** Sets the callback that runs when there are results to drain. */
  void wakeUp(Runnable wakeUp) {
    this.wakeUp = wakeUp;
    if (!inbox.isEmpty()) {
      wakeUp.run();
    }
  }

  /** Runs the callback: there are results to drain. */
  void wakeUp() {
    wakeUp.run();
  }

  /** Delivers the queued results and events. */
  void drain() {
    Runnable next;
    while ((next = inbox.poll()) != null) {
      next.run();
    }
  }

  /** Whether there is a connection. If not, {@link Listener#onConnected} follows later. */
  boolean isConnected() {
    return client.getZookeeperClient().isConnected();
  }

  /** Id of the session; 0 if there is none. */
  long session() {
    try {
      return client.getZookeeperClient().getZooKeeper().getSessionId();
    } catch (Exception e) {
      return 0;
    }
  }

  /** The session's timeout without a connection; 0 if there is no session. */
  long sessionTimeoutNs() {
    try {
      return TimeUnit.MILLISECONDS.toNanos(
          client.getZookeeperClient().getZooKeeper().getSessionTimeout());
    } catch (Exception e) {
      return 0;
    }
  }

  void read(String path, Completion completion) {
    start(() -> client.getData().inBackground(to(completion)).forPath(path), completion);
  }

  void children(String path, Completion completion) {
    start(() -> client.getChildren().inBackground(to(completion)).forPath(path), completion);
  }

  /** Creates a permanent znode. */
  void create(String path, byte[] content, Completion completion) {
    start(() -> client.create().inBackground(to(completion)).forPath(path, content), completion);
  }

  /** Completes when the client's ZooKeeper server has everything that was committed before. */
  void sync(String path, Completion completion) {
    start(() -> client.sync().inBackground(to(completion)).forPath(path), completion);
  }

  /** Watches the path and all paths below it until the session ends. */
  void watch(String path, Completion completion) {
    start(
        () ->
            client
                .watchers()
                .add()
                .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
                .inBackground(to(completion))
                .usingWatcher(watcher)
                .forPath(path),
        completion);
  }

  /** Carries out all changes or none. The result has the code of the first change that failed. */
  void change(Changes changes, Completion completion) {
    start(
        () ->
            client
                .transaction()
                .inBackground(to(completion))
                .forOperations(changes.in(client.transactionOp())),
        completion);
  }

  /** A builder of a list of changes. */
  @FunctionalInterface
  interface Changes {
    List<CuratorOp> in(TransactionOp operation) throws Exception;
  }

  /**
   * Whether the code is that of a lost connection: the operation may have been carried out, and can
   * be repeated later.
   */
  static boolean isLoss(Code code) {
    return switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONEXPIRED, SESSIONMOVED -> true;
      default -> false;
    };
  }

  @Override
  public void close() {
    closed = true;
    client.close();
    inbox.clear();
  }

  @FunctionalInterface
  private interface Start {
    void run() throws Exception;
  }

  private void start(Start operation, Completion completion) {
    try {
      operation.run();
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOGGER.log(Level.WARNING, "ZooKeeper: an operation cannot be started", e);
      enqueue(() -> completion.onCompleted(Code.SYSTEMERROR, null));
    }
  }

  private BackgroundCallback to(Completion completion) {
    return (source, event) -> {
      final Code code = Code.get(event.getResultCode());
      enqueue(() -> completion.onCompleted(code == null ? Code.SYSTEMERROR : code, event));
    };
  }

  private void onWatched(WatchedEvent event, Listener listener) {
    switch (event.getType()) {
      case NodeCreated, NodeDataChanged, NodeDeleted -> {
        final String path = event.getPath();
        enqueue(() -> listener.onChanged(path));
      }
      case PersistentWatchRemoved -> enqueue(() -> listener.onChanged(""));
      default -> {} // the connection's, of which Curator tells
    }
  }

  private void enqueue(Runnable what) {
    if (!closed) {
      inbox.add(what);
      wakeUp.run();
    }
  }

  /** The policy of never repeating an operation: callers decide that. */
  private static final class NoRetry implements RetryPolicy {
    @Override
    public boolean allowRetry(int count, long elapsedMillis, RetrySleeper sleeper) {
      return false;
    }

    @Override
    public boolean allowRetry(Throwable e) {
      return false;
    }
  }

  /** The access list that gives all rights on a znode to its creator, and none to others. */
  private static final class CreatorOnly implements ACLProvider {
    @Override
    public List<ACL> getDefaultAcl() {
      return Ids.CREATOR_ALL_ACL;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
      return Ids.CREATOR_ALL_ACL;
    }
  }
}

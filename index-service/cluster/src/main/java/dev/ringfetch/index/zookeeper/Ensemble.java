package dev.ringfetch.index.zookeeper;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
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
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;

/**
 * The connection to ZooKeeper: starts operations in the background, and queues what they bring
 * until {@link #drain}.
 *
 * <p>Curator keeps the session and replaces it when it has expired. It repeats no operation: a
 * change that is repeated hides whether its first attempt was carried out.
 *
 * <p>Used by one thread at a time, but that results come on threads of Curator and ZooKeeper.
 */
final class Ensemble implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(Ensemble.class.getName());
  private static final int CLOSE_WAIT_MILLIS = 1000;

  /** Takes the result of an operation, within {@link #drain}. */
  @FunctionalInterface
  interface Completion {
    /**
     * The operation has ended.
     *
     * @param event null if the operation could not be started
     */
    void onCompleted(Code code, CuratorEvent event);
  }

  /** Takes what is not the result of an operation, within {@link #drain}. */
  interface Listener {
    /** There is a connection, of the same session or of another. */
    void onConnected();

    /** The connection was lost; the session may go on. */
    void onSuspended();

    /** The session was lost. */
    void onLost();

    /** Something has changed at a path; empty: somewhere. */
    void onChanged(String path);
  }

  private final CuratorFramework client;
  private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private volatile Runnable wakeUp = () -> {};
  private volatile boolean closed;

  /** The same one each time: ZooKeeper tells equal watchers once. */
  private final Watcher watcher;

  /** Starts to connect. */
  Ensemble(ZooKeeperAddress address, Listener listener) {
    final CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(address.hosts())
            .ensembleTracker(false) // the hosts are those that the address names
            .sessionTimeoutMs(address.sessionTimeoutMillis())
            .connectionTimeoutMs(address.sessionTimeoutMillis())
            .maxCloseWaitMs(CLOSE_WAIT_MILLIS)
            .retryPolicy(new NoRetry());
    if (address.credentials() != null) {
      builder
          .authorization("digest", address.credentials().getBytes(StandardCharsets.UTF_8))
          .aclProvider(new CreatorOnly());
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
    client.start();
  }

  /** Sets what is run when there is something to drain. */
  void wakeUp(Runnable wakeUp) {
    this.wakeUp = wakeUp;
    if (!inbox.isEmpty()) {
      wakeUp.run();
    }
  }

  /** Tells that there is something to poll. */
  void wakeUp() {
    wakeUp.run();
  }

  /** Runs what has come. */
  void drain() {
    Runnable next;
    while ((next = inbox.poll()) != null) {
      next.run();
    }
  }

  /** Whether there is a connection. If not, {@link Listener#onConnected} comes when there is. */
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

  /** How long the session lives without a connection; 0 if there is none. */
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

  /** Creates a permanent znode without content. */
  void create(String path, Completion completion) {
    start(
        () -> client.create().inBackground(to(completion)).forPath(path, new byte[0]), completion);
  }

  /** Waits until the server that this client is connected to has all that was committed before. */
  void sync(String path, Completion completion) {
    start(() -> client.sync().inBackground(to(completion)).forPath(path), completion);
  }

  /** Asks for all changes at the path and below, until the session ends. */
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

  /** Carries out all changes or none. The result's code is that of the first that failed. */
  void change(Changes changes, Completion completion) {
    start(
        () ->
            client
                .transaction()
                .inBackground(to(completion))
                .forOperations(changes.in(client.transactionOp())),
        completion);
  }

  /** Makes a list of changes. */
  @FunctionalInterface
  interface Changes {
    List<CuratorOp> in(TransactionOp operation) throws Exception;
  }

  /** Whether an operation that ended so may have been carried out, or can be repeated later. */
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

  /** Leaves it to the caller whether an operation is repeated. */
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

  /** Gives all rights on a znode to the user that creates it, and none to others. */
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

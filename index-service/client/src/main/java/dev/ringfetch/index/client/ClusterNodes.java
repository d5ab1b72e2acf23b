package dev.ringfetch.index.client;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The nodes of a cluster, as a client knows them: their addresses, a channel to each, and which one
 * leads which index.
 *
 * <p>The nodes report the members of the cluster; addresses that they do not report are forgotten,
 * except for those that the application named. From the first call on all channels are connected,
 * so that a call can move to another node at once. Safe for use by many threads.
 */
final class ClusterNodes {
  private static final System.Logger LOGGER = System.getLogger(ClusterNodes.class.getName());

  /** Limit of the addresses that are logged as unusable. */
  private static final int UNUSABLE_MAX = 1000;

  /** Addresses that the application named. They are never forgotten: a node may know few others. */
  private final Set<String> seeds;

  private final Function<String, ManagedChannel> connect;
  private final Map<String, ManagedChannel> channels = new ConcurrentHashMap<>();

  /** All known addresses, the seeds first; never empty. */
  private final List<String> addresses = new CopyOnWriteArrayList<>();

  /** Channels to forgotten addresses, whose calls have not ended. */
  private final Set<ManagedChannel> leaving = ConcurrentHashMap.newKeySet();

  /** Addresses to which no channel can be made. */
  private final Set<String> unusable = ConcurrentHashMap.newKeySet();

  private final Map<String, String> leaders = new ConcurrentHashMap<>();
  private final AtomicInteger turn = new AtomicInteger();
  private volatile boolean connects;
  private volatile boolean closed;

  /**
   * Creates it; connects to nothing yet.
   *
   * @param targets addresses of some nodes
   * @param connect makes the channel to an address
   */
  ClusterNodes(Targets targets, Function<String, ManagedChannel> connect) {
    seeds = Set.copyOf(targets.addresses());
    this.connect = connect;
    targets.addresses().forEach(this::channel);
  }

  /** The channel to an address, which this closes. */
  ManagedChannel channel(String address) {
    return channels.computeIfAbsent(
        address,
        unknown -> {
          final ManagedChannel created = connect.apply(address);
          addresses.add(address);
          if (closed) {
            created.shutdownNow();
          } else if (connects) {
            keepConnected(created);
          }
          return created;
        });
  }

  /** Connects all channels, now and after the end of each connection. */
  void connect() {
    if (connects) {
      return;
    }
    synchronized (this) {
      if (connects) {
        return;
      }
      connects = true; // first: a channel that is created now is connected twice, which is once
    }
    channels.values().forEach(ClusterNodes::keepConnected);
  }

  /**
   * Connects a channel again when it is idle; gRPC itself retries a failed connection, with
   * back-off.
   */
  private static void keepConnected(ManagedChannel channel) {
    final ConnectivityState state = channel.getState(true);
    if (state != ConnectivityState.SHUTDOWN) {
      channel.notifyWhenStateChanged(state, () -> keepConnected(channel));
    }
  }

  /** Addresses of all nodes that are known. */
  List<String> addresses() {
    return List.copyOf(addresses);
  }

  /**
   * Learns the addresses of all nodes, separated by commas; null or empty if they are unknown.
   * Leaves out unusable addresses. Connections to other nodes end with their calls.
   */
  synchronized void learn(String nodes) {
    if (nodes == null || nodes.isEmpty()) {
      return;
    }
    final Set<String> kept = new HashSet<>(seeds);
    for (final String address : nodes.split(",", -1)) {
      if (isUsable(address)) {
        kept.add(address);
      }
    }
    kept.addAll(leaders.values()); // one that the coordinator has lost may lead still
    for (final String address : addresses) {
      if (!kept.contains(address)) {
        forget(address);
      }
    }
    leaving.removeIf(ManagedChannel::isTerminated);
  }

  /** True if there is a channel to an address, or one can be made; logs once per address if not. */
  private boolean isUsable(String address) {
    try {
      channel(address);
      return true;
    } catch (RuntimeException e) {
      if (unusable.size() < UNUSABLE_MAX && unusable.add(address)) {
        LOGGER.log(
            System.Logger.Level.WARNING,
            "a node is left out, as no channel can be made to its address: address="
                + address
                + " left out so far="
                + unusable.size()
                + ": "
                + e.getMessage());
      }
      return false;
    }
  }

  private void forget(String address) {
    channels.computeIfPresent(
        address,
        (unused, left) -> {
          addresses.remove(address);
          leaving.add(left);
          left.shutdown();
          return null;
        });
  }

  /**
   * Notes the leader of an index, a node that may have come back a moment ago. Without effect if
   * the address is unusable.
   */
  void lead(String index, String address) {
    if (!isUsable(address)) {
      return;
    }
    if (!address.equals(leaders.put(index, address))) {
      final ManagedChannel leader = channels.get(address);
      if (leader != null && connects) {
        leader.resetConnectBackoff();
      }
    }
  }

  /** The address for the next call for an index: its leader's if known, else the nodes' in turn. */
  String addressOf(String index) {
    final String leader = leaders.get(index);
    return leader != null ? leader : inTurn(turn.get());
  }

  private String inTurn(int number) {
    final String[] all = addresses.toArray(String[]::new); // others may go meanwhile
    return all[Math.floorMod(number, all.length)];
  }

  /** Notes that a node did not answer for an index: the next call tries another one. */
  void lost(String index, String address) {
    leaders.remove(index, address);
    final int now = turn.get();
    if (inTurn(now).equals(address)) {
      turn.compareAndSet(now, now + 1);
    }
  }

  /** Forgets which node leads an index. */
  void forgetLeader(String index) {
    leaders.remove(index);
  }

  /** Lets all channels that pause try to connect now. */
  void resetConnectBackoff() {
    channels.values().forEach(ManagedChannel::resetConnectBackoff);
  }

  /** Authority of the first node. */
  String authority() {
    return channel(inTurn(0)).authority();
  }

  /** Closes all channels, and later ones at once. */
  void close(Consumer<ManagedChannel> how) {
    closed = true;
    channels.values().forEach(how);
    leaving.forEach(how);
  }

  boolean isClosed() {
    return closed;
  }

  boolean isTerminated() {
    return closed
        && channels.values().stream().allMatch(ManagedChannel::isTerminated)
        && leaving.stream().allMatch(ManagedChannel::isTerminated);
  }

  boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    final long endNs = System.nanoTime() + unit.toNanos(timeout);
    final Set<ManagedChannel> all = new HashSet<>(channels.values());
    all.addAll(leaving);
    for (final ManagedChannel channel : all) {
      final long leftNs = Math.max(0, endNs - System.nanoTime());
      if (!channel.awaitTermination(leftNs, TimeUnit.NANOSECONDS)) {
        return false;
      }
    }
    return true;
  }
}

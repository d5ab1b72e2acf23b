package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.onesided.RemoteLog;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Memory between simulated nodes: what a leader writes is placed late and in parts, in order of the
 * requests, whatever the member and its connections do; that of a killed process stays.
 */
final class SimulatedMemory {
  private static final int LINE = 64;

  private final SimulatedTime time;
  private final Coverage coverage;
  private int pairs; // one in so many pairs of nodes has none; 0: all have none
  private final Map<ByteString, Grant> offers = new HashMap<>();
  private final Map<SimulatedNode, List<Own>> owns = new HashMap<>(); // of its replicas
  private long tokens;

  SimulatedMemory(SimulatedTime time, Coverage coverage) {
    this.time = time;
    this.coverage = coverage;
    pairs = time.random().nextBoolean() ? 1 : time.random().nextInt(5);
  }

  /** From now on no fabric connects nodes. */
  void none() {
    pairs = 0;
  }

  /** Whether a fabric connects two nodes. */
  private boolean connects(long leader, long member) {
    return pairs != 0 && (pairs == 1 || (leader + member) % pairs != 0);
  }

  /** The memory of one node. */
  PeerMemory of(SimulatedNode self) {
    return new PeerMemory() {
      @Override
      public List<FabricHint> hints() {
        return List.of(
            FabricHint.newBuilder()
                .setFabric("simulated")
                .setHint(ByteString.copyFromUtf8(Long.toString(self.id())))
                .build());
      }

      @Override
      public MemberMemory open() {
        final Own own = new Own(self);
        owns.computeIfAbsent(self, node -> new ArrayList<>()).add(own);
        return own;
      }

      @Override
      public CompletableFuture<RemoteLog> connect(LogOffer offer) {
        final CompletableFuture<RemoteLog> reached = new CompletableFuture<>();
        if (time.oneIn(3)) {
          reach(self, offer, reached);
        } else {
          final long delayNs = time.oneIn(4) ? time.random().nextInt(300_000_000) : time.delayNs();
          time.after(delayNs, () -> self.run(() -> reach(self, offer, reached)));
        }
        return reached;
      }
    };
  }

  private void reach(SimulatedNode self, LogOffer offer, CompletableFuture<RemoteLog> reached) {
    final Grant grant = offers.remove(offer.getToken());
    if (grant == null || time.oneIn(20)) {
      coverage.count("memory that cannot be reached");
      reached.completeExceptionally(new IOException("not to be reached"));
      return;
    }
    final Remote remote = new Remote(self, grant);
    if (reached.complete(remote)) {
      coverage.count("one-sided paths");
    } else {
      coverage.count("memory reached too late");
      remote.close();
    }
  }

  private List<Own> owns(SimulatedNode node) {
    return owns.getOrDefault(node, List.of());
  }

  /** A leader writes over the end word of a node's log memory, with what cannot be. */
  void damage(SimulatedNode node) {
    final List<Own> all = owns(node);
    final Own own = all.isEmpty() ? null : all.get(all.size() - 1);
    if (own != null && own.region != null && !own.region.damaged) {
      own.region.damaged = true;
      own.damages++;
      coverage.count("damaged log memory");
    }
  }

  /** Whether a node has lost what was placed, and has not seen that. */
  boolean isDamaged(SimulatedNode node) {
    return owns(node).stream().anyMatch(own -> own.region != null && own.region.damaged);
  }

  /** How often the log memory of a node was damaged. */
  int damages(SimulatedNode node) {
    return owns(node).stream().mapToInt(own -> own.damages).sum();
  }

  /** Log memory: while its member looks at it, requests that are under way may come first. */
  private final class LogRegion extends DirectRegion {
    private final List<Remote> remotes = new ArrayList<>();
    private boolean damaged;

    LogRegion(int length) {
      super(length);
    }

    @Override
    public long getLongAcquire(int index) {
      final boolean isEnd = index == LogMemoryDescriptor.END_OFFSET;
      hurry(isEnd);
      final long value = super.getLongAcquire(index);
      hurry(isEnd);
      return isEnd && damaged ? -1 : value;
    }

    private void hurry(boolean isDue) {
      if (isDue && time.random().nextBoolean()) {
        for (final Remote remote : remotes) {
          remote.hurry(time.random().nextInt(12));
        }
      }
    }
  }

  /** What one leader may reach. */
  private record Grant(Own own, LogRegion region) {}

  /** The memory of one replica. */
  private final class Own implements MemberMemory {
    final SimulatedNode node;
    final GatePage gate = GatePage.in(new DirectRegion(GateDescriptor.LENGTH));
    LogRegion region;
    int damages;

    Own(SimulatedNode node) {
      this.node = node;
    }

    @Override
    public Offered offer(List<FabricHint> hints, int length) {
      final long leader = Long.parseLong(hints.get(0).getHint().toStringUtf8());
      if (!connects(leader, node.id())) {
        return null;
      }
      region = new LogRegion((length + LINE - 1) & -LINE);
      final ByteString token = ByteString.copyFromUtf8(Long.toString(++tokens));
      offers.put(token, new Grant(this, region));
      return new Offered(region, gate, LogOffer.newBuilder().setToken(token).build());
    }

    @Override
    public void withdraw() {
      region = null; // leaders keep it
    }

    @Override
    public void close() {
      withdraw();
    }
  }

  /** The memory of a member, as a leader reaches it. */
  private final class Remote implements RemoteLog {
    private final SimulatedNode leader;
    private final SimulatedNode member;
    private final MemoryRegion region;
    private final GatePage gate;
    private final boolean isImmediate = time.oneIn(3);
    private final boolean isSlow = time.oneIn(2);
    private final int limit = isImmediate ? Integer.MAX_VALUE : 1 + time.random().nextInt(20);
    private int written; // since the last look that has ended, or that was begun then
    private int writtenBefore;
    private final ArrayDeque<Runnable> requests = new ArrayDeque<>();
    private long lastNs;
    private boolean looking;
    private long seenGate;
    private long seenConsumed;
    private boolean ended;

    Remote(SimulatedNode leader, Grant grant) {
      this.leader = leader;
      member = grant.own.node;
      region = grant.region;
      gate = grant.own.gate;
      if (grant.own.region == grant.region) {
        grant.region.remotes.add(this);
      } else {
        ended = true; // withdrawn meanwhile, perhaps in favour of another leader
      }
    }

    @Override
    public String fabric() {
      return "simulated";
    }

    @Override
    public int length() {
      return region == null ? 0 : region.length() - LogMemoryDescriptor.RING_OFFSET;
    }

    /** Carries a request out behind those before it, unless the member's host is gone. */
    private void request(Runnable action) {
      if (ended) {
        return;
      }
      if (isImmediate) {
        if (!member.isLost()) {
          action.run();
        } else {
          ended = true;
        }
        return;
      }
      final long delayNs =
          time.oneIn(2_000)
              ? 3_000_000_000L
              : isSlow ? time.delayNs() / 2 : time.oneIn(3) ? time.delayNs() : 1_000;
      lastNs = Math.max(lastNs, time.nowNs() + delayNs);
      requests.add(action);
      time.at(lastNs, () -> hurry(1));
      if (time.oneIn(3_000)) {
        coverage.count("ended one-sided paths");
        time.at(lastNs, () -> ended = true);
      }
    }

    /** Carries out some of the requests that are under way. */
    void hurry(int count) {
      for (int i = 0; i < count && !requests.isEmpty(); i++) {
        final Runnable action = requests.poll();
        if (!member.isLost()) {
          action.run();
        }
      }
    }

    @Override
    public void begin(long position) {
      request(() -> region.putLongRelease(LogMemoryDescriptor.BEGIN_OFFSET, position));
    }

    @Override
    public boolean mayWrite() {
      return written < limit;
    }

    @Override
    public void write(int offset, byte[] bytes, int start, int length) {
      if (written > limit) { // a whole record, which is in two parts at the end of the ring
        throw new AssertionError("no room: written=" + written + " limit=" + limit);
      }
      written++;
      final byte[] copy = Arrays.copyOfRange(bytes, start, start + length);
      final int at = LogMemoryDescriptor.RING_OFFSET + offset;
      final int half = time.random().nextInt(length + 1);
      final boolean ascending = time.random().nextBoolean();
      request(() -> put(at, copy, ascending ? 0 : half, ascending ? half : length));
      request(() -> put(at, copy, ascending ? half : 0, ascending ? length : half));
    }

    private void put(int at, byte[] bytes, int from, int to) {
      if (leader.isPaused() || !leader.isAlive()) {
        coverage.count("late placements");
      }
      region.putBytes(at + from, bytes, from, to - from);
    }

    @Override
    public void publish(long end, long commit) {
      request(
          () -> {
            region.putLongRelease(LogMemoryDescriptor.COMMIT_OFFSET, commit);
            region.putLongRelease(LogMemoryDescriptor.END_OFFSET, end);
          });
    }

    @Override
    public void look(boolean room) {
      looking = true;
      writtenBefore = written;
      request(
          () -> {
            final long word = gate.region().getLongAcquire(GateDescriptor.WORD_OFFSET);
            final long consumed =
                room ? region.getLongAcquire(LogMemoryDescriptor.CONSUMED_OFFSET) : seenConsumed;
            if (isImmediate) {
              seen(word, consumed);
            } else {
              time.after(
                  isSlow && time.oneIn(40)
                      ? time.random().nextInt(150_000_000)
                      : time.oneIn(3) ? time.delayNs() : 1_000,
                  () ->
                      leader.run(
                          () -> {
                            seen(word, consumed);
                            leader.replicas().all().forEach(Replica::drive);
                          }));
            }
          });
    }

    private void seen(long word, long consumed) {
      looking = false;
      written -= writtenBefore;
      seenGate = word;
      seenConsumed = consumed;
      coverage.count("looks at gates");
    }

    @Override
    public boolean isLooking() {
      return looking;
    }

    @Override
    public long gate() {
      return seenGate;
    }

    @Override
    public long consumed() {
      return seenConsumed;
    }

    @Override
    public boolean hasEnded() {
      return ended;
    }

    @Override
    public void close() {
      ended = true; // what is under way is placed all the same
    }
  }
}

package dev.ringfetch.index.replication;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A node's memory, as others reach it by its card: WRITEs and READs take what the cards take, in
 * the order in which they were posted, and a core's time to post. Nothing fails. A connection is
 * made at once: its requests take no time before the first {@link RemoteDomain#cork}.
 */
final class CardFabric implements Fabric {
  private static final String NAME = "card";

  private final SimulatedTime time;
  private final SimulatedCard card;
  private final SimulatedCores cores;
  private final Map<Long, CardDomain> domains; // of all nodes

  CardFabric(
      SimulatedTime time, SimulatedCard card, SimulatedCores cores, Map<Long, CardDomain> domains) {
    this.time = time;
    this.card = card;
    this.cores = cores;
    this.domains = domains;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public FabricCapabilities capabilities() {
    return new FabricCapabilities(
            FabricCapabilities.WriteOrder.ASCENDING,
            FabricCapabilities.ReadAtomicity.LINE,
            false,
            0)
        .ordered(true, false);
  }

  @Override
  public byte[] hint() {
    return NAME.getBytes(UTF_8);
  }

  @Override
  public Doorbell openDoorbell() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Offer offer(
      Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener) {
    throw new UnsupportedOperationException();
  }

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Domain openDomain(DomainContext context) {
    final long number = domains.size();
    final CardDomain domain = new CardDomain(number, card);
    domains.put(number, domain);
    return domain;
  }

  @Override
  public RemoteDomain connectDomain(byte[] descriptor, byte[] token, long timeoutNs) {
    return new Remote(domains.get(ByteBuffer.wrap(descriptor).getLong()));
  }

  @Override
  public void close() {}

  /** A domain of one segment. */
  static final class CardDomain implements Domain {
    private final long number;
    private final SimulatedCard card;
    private final GatePage gate = GatePage.in(new DirectRegion(GateDescriptor.LENGTH));
    private DirectRegion memory;

    CardDomain(long number, SimulatedCard card) {
      this.number = number;
      this.card = card;
    }

    @Override
    public Rights rights() {
      return Rights.WRITE;
    }

    @Override
    public byte[] descriptor() {
      return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    @Override
    public GatePage gate() {
      return gate;
    }

    @Override
    public DomainSegment grow(int length) throws IOException {
      if (memory != null) {
        throw new IOException("one segment alone");
      }
      memory = new DirectRegion(length);
      return new DomainSegment() {
        @Override
        public int number() {
          return 0;
        }

        @Override
        public long length() {
          return length;
        }

        @Override
        public MemoryRegion region() {
          return memory;
        }

        @Override
        public byte[] descriptor() {
          return new byte[0];
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public DomainAdmission admit(byte[] peerHint, byte[] token) {
      return () -> {};
    }

    @Override
    public void close() {}
  }

  /** A work request. */
  private record Request(Runnable action, int outBytes, int inBytes, long id) {
    boolean isSignaled() {
      return id != QueuePair.UNSIGNALED;
    }
  }

  /** A leader's end. */
  private final class Remote implements RemoteDomain {
    private final CardDomain of;
    private final SimulatedCores.Connection connection = new SimulatedCores.Connection();
    private final ArrayDeque<Long> completed = new ArrayDeque<>();
    private List<Request> linked = new ArrayList<>();
    private boolean takesTime;

    Remote(CardDomain of) {
      this.of = of;
    }

    @Override
    public FabricCapabilities capabilities() {
      return CardFabric.this.capabilities();
    }

    @Override
    public Rights rights() {
      return Rights.WRITE;
    }

    @Override
    public int attach(byte[] segmentDescriptor) {
      return 0;
    }

    @Override
    public void detach(int segment) {}

    @Override
    public long length(int segment) {
      return memory(segment).length();
    }

    private DirectRegion memory(int segment) {
      return segment == GATE ? (DirectRegion) of.gate.region() : of.memory;
    }

    @Override
    public MemoryRegion view(int segment) {
      throw new IllegalStateException("segment=" + segment);
    }

    @Override
    public MemoryRegion scratch(int length) {
      return new DirectRegion(length);
    }

    @Override
    public int read(
        int segment, long offset, MemoryRegion local, int localOffset, int length, long id) {
      final DirectRegion from = memory(segment);
      return post(
          new Request(() -> copy(from, (int) offset, local, localOffset, length), 0, length, id));
    }

    @Override
    public int write(
        int segment, long offset, MemoryRegion local, int localOffset, int length, long id) {
      final DirectRegion to = memory(segment);
      return post(
          new Request(
              () -> copy(local, localOffset, to, (int) offset, length), length, length, id));
    }

    private static void copy(MemoryRegion from, int at, MemoryRegion to, int toAt, int length) {
      final byte[] bytes = new byte[length];
      from.getBytes(at, bytes, 0, length);
      to.putBytes(toAt, bytes, 0, length);
    }

    private int post(Request request) {
      if (!takesTime) {
        request.action.run();
        complete(request);
        return QueuePair.POSTED;
      }
      cores.charge(card.rates().postNs());
      linked.add(request);
      return QueuePair.POSTED;
    }

    private void complete(Request request) {
      if (request.isSignaled()) {
        completed.add(request.id);
      }
    }

    @Override
    public int compareAndSwap(int segment, long offset, long expected, long desired, long id) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int fetchAndAdd(int segment, long offset, long delta, long id) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void cork() {
      takesTime = true;
    }

    @Override
    public void uncork() {
      final List<Request> posted = linked;
      linked = new ArrayList<>();
      posted.stream().filter(Request::isSignaled).forEach(look -> cores.lookBegun());
      cores.send(connection, () -> posted.forEach(this::issue));
    }

    private void issue(Request request) {
      card.issue(request.outBytes, () -> of.card.serve(request.inBytes, () -> carryOut(request)));
    }

    private void carryOut(Request request) {
      request.action.run();
      if (request.isSignaled()) {
        time.after(
            (long) card.rates().wireNs(),
            () -> {
              complete(request);
              cores.lookEnded();
            });
      }
    }

    @Override
    public CompletionQueue completions() {
      return (handler, limit) -> {
        if (completed.isEmpty() || !cores.seesResults()) {
          return 0;
        }
        handler.onCompletion(completed.poll(), QueuePair.SUCCESS, 0);
        return 1;
      };
    }

    @Override
    public boolean isRevoked() {
      return false;
    }

    @Override
    public void close() {}
  }
}

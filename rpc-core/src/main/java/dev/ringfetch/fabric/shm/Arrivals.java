package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.Doorbell;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * The socket at which the peers of one doorbell's offers arrive. A connection is an <i>unverified
 * peer</i> until it has presented an offer's nonce and token; the number of these and their time
 * are limited.
 *
 * <p>Offers come and go from any thread; the rest belongs to the thread that owns the doorbell.
 */
final class Arrivals implements Selectable {
  /** Answer to a peer with the right token. After a wrong one the connection is closed. */
  static final byte ACCEPTED = 1;

  private static final Logger LOGGER = System.getLogger(Arrivals.class.getName());
  private static final int BACKLOG = 256;
  private static final int UNVERIFIED_LIMIT = 64;
  private static final int ACCEPT_LIMIT = 16;
  private static final long UNVERIFIED_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int REFUSAL_LIMIT = 16; // within one pause
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final ShmDoorbell doorbell;
  private final Selector selector;
  private final Path path;
  private final int bell;
  private final ServerSocketChannel server;
  private final SelectionKey key;
  private final Map<Nonce, ShmOffer> offers = new ConcurrentHashMap<>();

  /** In the order of their timeouts. Only {@link #close} is called from another thread. */
  private final Queue<UnverifiedPeer> unverified = new ConcurrentLinkedQueue<>();

  private int unverifiedCount;
  private int refusals;
  private long refusalsNs = System.nanoTime();
  private boolean isAccepting = true;
  private boolean isPaused;
  private long pausedUntilNs;
  private IOException failure;
  private volatile boolean closed;

  private Arrivals(
      ShmDoorbell doorbell, Selector selector, Path path, int bell, ServerSocketChannel server)
      throws IOException {
    this.doorbell = doorbell;
    this.selector = selector;
    this.path = path;
    this.bell = bell;
    this.server = server;
    this.key = server.register(selector, SelectionKey.OP_ACCEPT, this);
  }

  static Arrivals open(ShmDoorbell doorbell, Selector selector, Path directory, int bell)
      throws IOException {
    final Path path = SessionAddress.bellPath(directory, bell);
    final ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    boolean opened = false;
    try {
      server.configureBlocking(false);
      server.bind(SessionAddress.socketAddress(path), BACKLOG);
      final Arrivals arrivals = new Arrivals(doorbell, selector, path, bell, server);
      opened = true;
      return arrivals;
    } finally {
      if (!opened) {
        Cleanup.close(server);
        Cleanup.delete(path);
      }
    }
  }

  /** True while the peers of offers below a directory find this socket. */
  boolean isFoundIn(Path directory) {
    return path.getParent().equals(directory) && Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  int bell() {
    return bell;
  }

  void add(ShmOffer offer) throws IOException {
    offers.put(offer.address().nonce(), offer);
    if (closed) {
      offer.close();
      throw new IOException("the doorbell is closed");
    }
  }

  /** Takes an offer away; true for one caller only. */
  boolean take(ShmOffer offer) {
    return offers.remove(offer.address().nonce(), offer);
  }

  @Override
  public int onReady() {
    try {
      for (int i = 0; i < ACCEPT_LIMIT && unverifiedCount < UNVERIFIED_LIMIT; i++) {
        final SocketChannel channel = server.accept();
        if (channel == null) {
          break;
        }
        admit(channel);
      }
      recover();
    } catch (ClosedChannelException e) {
      LOGGER.log(Level.DEBUG, "closed by another thread: {0}", path);
      return 0;
    } catch (IOException e) {
      pause(e);
    }
    adjustInterest();
    return 0;
  }

  /**
   * Stops accepting for a while. A connection that could not be accepted, for example for lack of
   * descriptors, stays in the backlog, and the socket stays ready: the poller would spin.
   */
  private void pause(IOException cause) {
    pause();
    failure = cause;
  }

  private void pause() {
    isPaused = true;
    pausedUntilNs = System.nanoTime() + PAUSE_NS;
  }

  /**
   * Logs a failure only when it is over: a logger may need the very descriptors that are lacking.
   */
  private void recover() {
    if (failure != null) {
      LOGGER.log(Level.WARNING, "could not accept for a while at " + path, failure);
      failure = null;
    }
  }

  private void admit(SocketChannel channel) {
    try {
      doorbell.fabric().ownership().checkPeer(channel);
      channel.configureBlocking(false);
      final UnverifiedPeer peer =
          new UnverifiedPeer(channel, System.nanoTime() + UNVERIFIED_TIMEOUT_NS);
      peer.key = channel.register(selector, SelectionKey.OP_READ, peer);
      unverified.add(peer);
      unverifiedCount++;
    } catch (IOException | UnsupportedOperationException | LinkageError e) {
      // The poller continues. Closed first: a logger may need the descriptor.
      Cleanup.close(channel);
      LOGGER.log(Level.WARNING, "refused at " + path, e);
    }
  }

  private void forget(UnverifiedPeer peer) {
    if (unverified.remove(peer)) {
      unverifiedCount--;
    }
    adjustInterest();
  }

  private void refuse(UnverifiedPeer peer, String reason) {
    LOGGER.log(Level.DEBUG, "refused at {0}: {1}", path, reason);
    Cleanup.close(peer.channel);
    forget(peer);
  }

  /**
   * Rejects a connection with a wrong token; delays further ones when there are many (rate limit).
   */
  private void rejectLimited(UnverifiedPeer peer, String reason) {
    final long nowNs = System.nanoTime();
    if (nowNs - refusalsNs >= PAUSE_NS) {
      refusalsNs = nowNs;
      refusals = 0;
    }
    if (++refusals == REFUSAL_LIMIT) {
      pause();
    }
    refuse(peer, reason);
  }

  private void adjustInterest() {
    final boolean accepts = unverifiedCount < UNVERIFIED_LIMIT && !isPaused;
    if (accepts != isAccepting) {
      key.interestOps(accepts ? SelectionKey.OP_ACCEPT : 0);
      isAccepting = accepts;
    }
  }

  /** How long from now {@link #onTime} has something to do, in nanoseconds. */
  long dueInNs() {
    final UnverifiedPeer first = unverified.peek();
    if (first == null && !isPaused) {
      return Doorbell.FOREVER;
    }
    final long nowNs = System.nanoTime();
    final long dueNs = first == null ? Doorbell.FOREVER : first.deadlineNs - nowNs;
    return isPaused ? Math.min(dueNs, pausedUntilNs - nowNs) : dueNs;
  }

  /** Rejects connections whose time is over, and accepts again after a pause. */
  void onTime() {
    if (dueInNs() > 0) {
      return;
    }
    final long nowNs = System.nanoTime();
    if (isPaused && pausedUntilNs - nowNs <= 0) {
      isPaused = false;
      adjustInterest();
    }
    UnverifiedPeer first = unverified.peek();
    while (first != null && first.deadlineNs - nowNs <= 0) {
      refuse(first, "no token in time");
      first = unverified.peek();
    }
  }

  /** Accepts or rejects a peer, once all its bytes have come. */
  private int verify(UnverifiedPeer peer) {
    final ByteBuffer presented = peer.presented.flip();
    final ShmOffer offer = offers.get(Nonce.get(presented));
    final byte[] token = new byte[ShmFabric.TOKEN_LENGTH];
    presented.get(token);
    if (offer == null || !offer.isToken(token)) {
      rejectLimited(peer, "no such offer");
      return 0;
    }
    peer.key.interestOps(0);
    if (!take(offer)) {
      refuse(peer, "the offer was withdrawn");
      return 0;
    }
    forget(peer);
    // Before the answer: a peer that was accepted finds the name gone.
    offer.file().unlink();
    answer(peer.channel);
    final Link link = new Link(doorbell, peer.channel, peer.key);
    link.own(offer.file());
    peer.key.attach(link);
    doorbell.add(link);
    final ShmQueuePair queuePair =
        new ShmQueuePair(doorbell.fabric(), link, offer.file().region(), offer.address());
    try {
      offer.listener().onConnected(queuePair);
    } catch (Throwable e) {
      ShmDoorbell.report(e);
      queuePair.close();
    }
    return 1;
  }

  private static void answer(SocketChannel channel) {
    try {
      channel.write(ByteBuffer.wrap(new byte[] {ACCEPTED}));
    } catch (IOException e) {
      // The peer has died since: the listener that binds the queue pair hears of it.
      LOGGER.log(Level.DEBUG, "the peer has gone: {0}", e.toString());
    }
  }

  /**
   * Closes the socket and every unverified peer, and withdraws the offers. From any thread, once.
   */
  void close() {
    closed = true;
    Cleanup.close(server);
    Cleanup.delete(path);
    for (final UnverifiedPeer peer : unverified) {
      Cleanup.close(peer.channel);
    }
    for (final ShmOffer offer : offers.values()) {
      offer.close();
    }
  }

  /** A connection that has not presented a token yet. */
  private final class UnverifiedPeer implements Selectable {
    final SocketChannel channel;
    final long deadlineNs;
    final ByteBuffer presented = ByteBuffer.allocate(Nonce.LENGTH + ShmFabric.TOKEN_LENGTH);
    SelectionKey key;

    UnverifiedPeer(SocketChannel channel, long deadlineNs) {
      this.channel = channel;
      this.deadlineNs = deadlineNs;
    }

    @Override
    public int onReady() {
      try {
        final int bytes = channel.read(presented);
        if (bytes >= 0) {
          return presented.hasRemaining() ? 0 : verify(this);
        }
        rejectLimited(this, "gone before it presented a token");
      } catch (IOException e) {
        rejectLimited(this, "broken before it presented a token: " + e.getMessage());
      }
      return 0;
    }
  }
}

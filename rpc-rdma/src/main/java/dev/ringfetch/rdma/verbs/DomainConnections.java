package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.FileDescriptors;
import dev.ringfetch.rdma.natives.PollLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The connections of a fabric to and from domains. A domain has no doorbell, and peers connect and
 * go at any time, so the events of the connection manager are taken in a thread: one for a fabric
 * that has domains or reaches them, which sleeps but for these events.
 *
 * <p>May be used from any thread. Objects whose ids are {@link #watch}ed are created, used for
 * events and destroyed with the {@link #lock} held, so that no event reaches an id that has taken
 * another one's place.
 */
final class DomainConnections {
  private static final Logger LOGGER = System.getLogger(DomainConnections.class.getName());

  /** One text for each refusal, so that a peer cannot find out which domains there are. */
  private static final String REFUSAL = "no such domain, or the token is wrong";

  private static final int DESCRIPTORS = 2; // the wake-up and the connection manager

  private final ReentrantLock lock = new ReentrantLock();
  private final RdmaEventChannel channel;
  private final int wakeUp;
  private final Thread thread = new Thread(this::run, "ringfetch-verbs-domains");
  private final ByteBuffer event = Request.direct(EventLayout.SIZE); // guarded by the lock
  private final Map<Long, Watcher> watchers = new HashMap<>(); // by id; guarded by the lock
  private final Map<Long, VerbsDomain> domains = new HashMap<>(); // guarded by the lock
  private final Set<VerbsRemoteDomain> remotes = new HashSet<>(); // guarded by the lock
  private ListeningId listening; // guarded by the lock
  private volatile boolean closed; // set with the lock held

  /** The receiver of an id's events. */
  @FunctionalInterface
  interface Watcher {
    /**
     * An event has come. With the lock held.
     *
     * @param type one of {@link EventLayout}.
     */
    void onEvent(int type);
  }

  DomainConnections() throws IOException {
    channel = RdmaEventChannel.createEventChannel();
    boolean opened = false;
    try {
      wakeUp = FileDescriptors.createEvent();
      opened = true;
    } finally {
      if (!opened) {
        Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
      }
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** Held while ids are created, watched and destroyed. Taken before any other lock. */
  ReentrantLock lock() {
    return lock;
  }

  /** Throws when the fabric was closed. */
  void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the fabric is closed");
    }
  }

  /** The port at which peers connect; listens there from the first call on. With the lock held. */
  int port() throws IOException {
    checkOpen();
    if (listening == null) {
      listening = ListeningId.open(channel);
    }
    return listening.port();
  }

  /** Creates an id whose events come here. With the lock held. */
  RdmaCmId createId() throws IOException {
    checkOpen();
    return Disni.createId(channel);
  }

  /** Adds a domain, to which peers may connect from here on. With the lock held. */
  void add(VerbsDomain domain) throws IOException {
    checkOpen();
    domains.put(domain.id(), domain);
  }

  /** Removes a domain. With the lock held. */
  void remove(VerbsDomain domain) {
    domains.remove(domain.id());
  }

  /** Adds a connection to a domain of a peer, whose id is of another channel still. */
  void add(VerbsRemoteDomain remote, RdmaCmId id) throws IOException {
    lock.lock();
    try {
      checkOpen();
      watch(id, remote); // before its events can come
      boolean migrated = false;
      try {
        ConnectionManager.migrate(Disni.handle(id), Disni.handle(channel));
        migrated = true;
      } finally {
        if (!migrated) {
          forget(id);
        }
      }
      remotes.add(remote);
    } finally {
      lock.unlock();
    }
  }

  /** Removes a connection, after which {@code freeing} runs, also if it is unknown here. */
  void remove(VerbsRemoteDomain remote, RdmaCmId id, Runnable freeing) {
    lock.lock();
    try {
      remotes.remove(remote);
      forget(id);
      freeing.run();
    } finally {
      lock.unlock();
    }
  }

  /** Sets the receiver of an id's events. With the lock held. */
  void watch(RdmaCmId id, Watcher watcher) {
    watchers.put(Disni.handle(id), watcher);
  }

  /** Ends what {@link #watch} began, before the id is destroyed. With the lock held. */
  void forget(RdmaCmId id) {
    watchers.remove(Disni.handle(id));
  }

  private void run() {
    final ByteBuffer entries = Request.direct(DESCRIPTORS * PollLayout.SIZE);
    enter(entries, 0, wakeUp);
    enter(entries, 1, ConnectionManager.channelDescriptor(Disni.handle(channel)));
    while (!closed) {
      final int count = FileDescriptors.poll(Regions.address(entries), DESCRIPTORS, -1);
      if (count < 0) {
        LOGGER.log(Level.ERROR, "domains take no more peers: {0}", Errors.errnoText(count));
        return;
      }
      takeEvents();
    }
  }

  private static void enter(ByteBuffer entries, int index, int descriptor) {
    entries
        .putInt(index * PollLayout.SIZE + PollLayout.DESCRIPTOR, descriptor)
        .putShort(index * PollLayout.SIZE + PollLayout.WANTED, (short) PollLayout.READABLE);
  }

  private void takeEvents() {
    lock.lock();
    try {
      while (!closed
          && ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), 0) > 0) {
        take();
      }
    } catch (RuntimeException | Error e) { // only this event's connection is concerned
      VerbsDoorbell.report(e);
    } finally {
      lock.unlock();
    }
  }

  private void take() {
    final int type = event.getInt(EventLayout.TYPE);
    final long id = event.getLong(EventLayout.ID);
    if (type == EventLayout.CONNECT_REQUEST) {
      onRequest(id);
      return;
    }
    final Watcher watcher = watchers.get(id);
    if (watcher != null) {
      watcher.onEvent(type);
    }
  }

  private void onRequest(long handle) {
    RdmaCmId id = null;
    boolean let = false;
    try {
      id = Disni.requested(handle, channel);
      final DomainIntroduction said = DomainIntroduction.decode(Dialing.privateData(event));
      final VerbsDomain domain = domains.get(said.domain());
      final DomainPeer peer = domain == null ? null : domain.take(said.token());
      if (peer == null) {
        throw new IOException(REFUSAL);
      }
      let = true; // the peer has the id
      peer.accept(id);
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "a peer is not let in", e);
      if (!let && id != null) {
        Arrivals.reject(id, String.valueOf(e.getMessage()));
      }
    } finally {
      if (!let) {
        Disni.giveBack(id, RdmaCmId::destroyId);
      }
    }
  }

  /** Closes all domains and connections, and ends the thread. Idempotent. */
  void close() {
    final List<VerbsDomain> own;
    final List<VerbsRemoteDomain> others;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      own = List.copyOf(domains.values());
      others = List.copyOf(remotes);
    } finally {
      lock.unlock();
    }
    FileDescriptors.signal(wakeUp);
    own.forEach(VerbsDomain::close);
    others.forEach(VerbsRemoteDomain::close);
    awaitThread();
    if (listening != null) {
      listening.close();
    }
    Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
    FileDescriptors.close(wakeUp);
  }

  private void awaitThread() {
    boolean interrupted = false;
    while (thread.isAlive() && thread != Thread.currentThread()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true; // it ends at once
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

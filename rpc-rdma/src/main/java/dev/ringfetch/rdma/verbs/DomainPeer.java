package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.Regions;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/**
 * The admission of one peer to a domain of this process, with its states. All but {@link #close} is
 * called with the lock of {@link DomainConnections} held.
 *
 * <pre>
 *   OFFERED -- the peer presents the token --> CONNECTED -- it goes --> LEFT
 *   OFFERED, CONNECTED, LEFT -- close -------> CLOSED
 * </pre>
 *
 * <p>A connected peer has a queue pair of its own, and nothing else: destroying it is the
 * revocation.
 */
final class DomainPeer implements DomainAdmission {
  private static final Logger LOGGER = System.getLogger(DomainPeer.class.getName());

  private enum State {
    OFFERED,
    CONNECTED,
    LEFT,
    CLOSED
  }

  private final VerbsDomain domain;
  private final DomainConnections connections;
  private final Introduction.Token token;
  private State state = State.OFFERED;
  private RdmaCmId id; // while it is connected

  DomainPeer(VerbsDomain domain, DomainConnections connections, Introduction.Token token) {
    this.domain = domain;
    this.connections = connections;
    this.token = token;
  }

  /** Whether a peer that presents this token is the one that was admitted. */
  boolean isPresentedBy(Introduction.Token presented) {
    return token.matches(presented) && state == State.OFFERED;
  }

  /** Answers the peer's connect request, whose id belongs to this from here on. */
  void accept(RdmaCmId requested) {
    id = requested;
    state = State.CONNECTED;
    try {
      domain.device().createQueuePair(id, 1);
      Endpoint.setTimeouts(id);
      connections.watch(id, this::onEvent);
      final ByteBuffer answer = domain.answer();
      ConnectionManager.accept(
          Disni.handle(id),
          ConnectionManager.ALL,
          Endpoint.RNR_RETRIES,
          Regions.address(answer),
          answer.capacity());
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "a peer is not let in", e);
      Arrivals.reject(id, String.valueOf(e.getMessage()));
      leave();
    }
  }

  private void onEvent(int type) {
    if (type == EventLayout.DEVICE_REMOVED) {
      domain.deviceRemoved();
    } else if (type != EventLayout.ESTABLISHED) {
      leave();
    }
  }

  private void leave() {
    state = State.LEFT;
    connections.forget(id);
    DomainDevice.disconnect(id);
    DomainDevice.destroy(id);
    id = null;
  }

  @Override
  public void close() {
    connections.lock().lock();
    try {
      if (state == State.CONNECTED) {
        leave();
      }
      if (state != State.CLOSED) {
        state = State.CLOSED;
        domain.forget(this);
      }
    } finally {
      connections.lock().unlock();
    }
  }
}

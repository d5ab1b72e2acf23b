package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;

/**
 * The fabric {@code verbs}, with what only a test does to it: connects that are rejected, and the
 * last queue pair at the test's mercy. Thread-safe.
 */
public final class FaultyProvider implements FabricProvider {
  /** What is wrong with a client that connects. */
  public enum ConnectFault {
    NONE,
    /** The server's program rejects it. */
    WRONG_TOKEN,
    /** The server's connection manager rejects it. */
    NOBODY_LISTENS
  }

  private final VerbsProvider verbs = new VerbsProvider();
  private volatile ConnectFault connectFault = ConnectFault.NONE;
  private volatile VerbsQueuePair last;

  /** From now on clients connect so. */
  public void connectFault(ConnectFault fault) {
    connectFault = fault;
  }

  /** Forces the last queue pair into the error state. It must not have been closed. */
  public void failQueuePair() throws IOException {
    QueuePairs.fail(last.endpoint().queuePair());
  }

  /** Has the last queue pair post a WRITE of which the last half is beyond the peer's memory. */
  public void writeBeyondMemory() {
    RemoteMemory remote = last.remote();
    post(remote.address() + remote.length() - 32, remote.rkey());
  }

  /** Has the last queue pair post a WRITE into the memory of another one's session. */
  public void writeIntoMemoryOf(FaultyProvider other) {
    RemoteMemory remote = other.last.remote();
    post(remote.address(), remote.rkey());
  }

  /** What no queue pair of ours would post. */
  private void post(long address, int key) {
    Endpoint endpoint = last.endpoint();
    Request request = new Request(SendLayout.WRITE);
    request
        .flags(SendLayout.SIGNALED)
        .local(endpoint.memory().address(), 64, endpoint.memory().localKey())
        .remote(address, key);
    long result = QueuePairs.postSend(endpoint.queuePair(), request.address());
    if (result != 0) {
      throw new AssertionError("not posted: " + Errors.errnoText(QueuePairs.errno(result)));
    }
  }

  @Override
  public String name() {
    return verbs.name();
  }

  @Override
  public int priority() {
    return verbs.priority();
  }

  @Override
  public String unavailability() {
    return verbs.unavailability();
  }

  @Override
  public Fabric open(FabricContext context) throws IOException {
    return new Faulty(verbs.open(context));
  }

  private final class Faulty implements Fabric {
    private final Fabric fabric;

    Faulty(Fabric fabric) {
      this.fabric = fabric;
    }

    @Override
    public String name() {
      return fabric.name();
    }

    @Override
    public FabricCapabilities capabilities() {
      return fabric.capabilities();
    }

    @Override
    public byte[] hint() {
      return fabric.hint();
    }

    @Override
    public Doorbell openDoorbell() throws IOException {
      return fabric.openDoorbell();
    }

    @Override
    public Offer offer(
        Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
        throws IOException {
      return fabric.offer(
          doorbell,
          peerHint,
          length,
          token,
          queuePair -> {
            last = (VerbsQueuePair) queuePair;
            listener.onConnected(queuePair);
          });
    }

    @Override
    public QueuePair connect(
        Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
        throws IOException {
      ConnectFault fault = connectFault;
      OfferDescriptor right = OfferDescriptor.decode(descriptor);
      QueuePair queuePair =
          fabric.connect(
              doorbell,
              fault == ConnectFault.NOBODY_LISTENS
                  ? new OfferDescriptor(right.offer(), right.length(), 1, right.addresses())
                      .encode()
                  : descriptor,
              fault == ConnectFault.WRONG_TOKEN ? new byte[token.length] : token,
              timeoutNs,
              datagrams);
      last = (VerbsQueuePair) queuePair;
      return queuePair;
    }

    @Override
    public void close() {
      fabric.close();
    }
  }
}

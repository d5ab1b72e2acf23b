package dev.ringfetch.benchmarks.darpc;

import com.ibm.darpc.DaRPCServerEndpoint;
import com.ibm.darpc.DaRPCServerEvent;
import com.ibm.darpc.DaRPCService;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The service that echoes, on DaRPC's polling thread. That thread would take a processor from the
 * peer that is measured next. So it waits here between the last request of a round and the next
 * round.
 */
final class DarpcEcho extends DarpcMessage.Protocol
    implements DaRPCService<DarpcMessage, DarpcMessage> {
  private static final int PATIENCE_SECONDS = 120;

  private final Semaphore begun = new Semaphore(0);
  private final Semaphore ended = new Semaphore(0);

  @Override
  public void processServerEvent(DaRPCServerEvent<DarpcMessage, DarpcMessage> event)
      throws IOException {
    event.getSendMessage().copy(event.getReceiveMessage());
    event.triggerResponse();
    if (event.getReceiveMessage().holds(DarpcMessage.END)) {
      ended.release();
      begun.acquireUninterruptibly();
    }
  }

  /** Lets the polling thread go on. */
  void begin() {
    begun.release();
  }

  /** Waits until the client has ended a round. */
  void awaitEnd() throws InterruptedException {
    if (!ended.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("timeout: the client does not end its round");
    }
  }

  @Override
  public void open(DaRPCServerEndpoint<DarpcMessage, DarpcMessage> endpoint) {}

  @Override
  public void close(DaRPCServerEndpoint<DarpcMessage, DarpcMessage> endpoint) {}
}

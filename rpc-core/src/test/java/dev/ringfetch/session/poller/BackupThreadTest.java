package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A backup thread that is about to rest does not miss the lease that is given just then. */
@Timeout(60)
class BackupThreadTest {
  private static final int TIMEOUT_S = 30;

  private final OwnerToken token = new OwnerToken();

  /** The driver, which has the token, lends it while the thread decides that there is nothing. */
  private static final class LentWhileItDecides implements Patience {
    private final CompletableFuture<Void> lent = new CompletableFuture<>();
    private final CompletableFuture<Void> decided = new CompletableFuture<>();
    private boolean again;

    @Override
    public boolean stand(long nowNs) {
      return true;
    }

    @Override
    public void begin(long nowNs) {}

    @Override
    public long look(long nowNs) {
      if (again) {
        return TAKE;
      }
      again = true;
      decided.complete(null);
      lent.join(); // the driver sees that this thread looks, and does not wake it
      return REST;
    }

    @Override
    public void taken() {}
  }

  @Test
  void leaseThatIsGivenWhileItGoesToRestIsTaken() throws Exception {
    final LentWhileItDecides patience = new LentWhileItDecides();
    final BackupHost host =
        new BackupHost() {
          @Override
          public String name() {
            return "poller";
          }

          @Override
          public void standBy() {
            throw new AssertionError("no thread is started here");
          }

          @Override
          public boolean isFinished() {
            return false;
          }
        };
    final PollerLease lease = new PollerLease(token);
    final PollerParts parts =
        new PollerParts(host, token, lease, System::nanoTime, new Tally(Kind.POLLER));
    final BackupThread backup = new BackupThread(parts, patience, "-backup-");
    assertTrue(token.tryAcquire());
    final CompletableFuture<Boolean> took = new CompletableFuture<>();
    final Thread thread = new Thread(() -> took.complete(backup.await()), "backup");
    thread.setDaemon(true);
    thread.start();
    patience.decided.get(TIMEOUT_S, TimeUnit.SECONDS);
    assertTrue(backup.looks(), "so the driver does not wake it");
    lease.lendForTasks();
    patience.lent.complete(null);
    assertTrue(took.get(TIMEOUT_S, TimeUnit.SECONDS));
    thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_S));
  }
}

package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.partition.BookStore;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.LaterLog;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Transaction;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.OperationAnswer;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads that compare, change and read several keys of one partition in transactions, beside
 * writes of single keys: what they are told must be linearizable for all keys together. {@code
 * -Dringfetch.seed=SEED} draws other operations.
 */
@Timeout(300)
final class TransactionLinearizabilityTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int THREADS = 4;
  private static final int ROUNDS = 30;
  private static final int CALLS = 100;
  private static final int CAPACITY = 16;
  private static final long PAUSE_NS = 20_000;

  private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();

  @Test
  void transactionsThatCommitAtOnceAreLinearizable() throws Exception {
    check(new ImmediateLog(0));
  }

  @Test
  void transactionsThatCommitLaterAreLinearizable() throws Exception {
    try (LaterLog log = new LaterLog(PAUSE_NS)) {
      check(log);
    }
  }

  private void check(CommitLog log) throws Exception {
    final BookStore store = new BookStore(1_000_000);
    final Partition partition = new Partition(store, log, CAPACITY, errors::add, Handover.never());
    final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    int applied = 0;
    int refused = 0;
    try {
      for (int round = 0; round < ROUNDS; round++) {
        final List<Future<List<JointKeys.Operation>>> running = new ArrayList<>();
        for (int id = 1; id <= THREADS; id++) {
          final Client client = new Client(partition, errors, id, round);
          running.add(threads.submit(client::run));
        }
        final List<JointKeys.Operation> history = new ArrayList<>();
        for (final Future<List<JointKeys.Operation>> one : running) {
          history.addAll(one.get(60, TimeUnit.SECONDS));
        }
        assertTrue(JointKeys.isLinearizable(history), () -> "seed=" + SEED + "\n" + text(history));
        for (final JointKeys.Operation operation : history) {
          final boolean compares = operation.call().kind() == JointKeys.Kind.TRANSACTION;
          applied += compares && operation.answer().yes() ? 1 : 0;
          refused += compares && !operation.answer().yes() ? 1 : 0;
        }
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(List.of(), List.copyOf(errors));
    assertEquals(0, store.reserved());
    assertTrue(applied > ROUNDS && refused > ROUNDS, "applied=" + applied + " refused=" + refused);
  }

  private static String text(List<JointKeys.Operation> history) {
    final StringBuilder text = new StringBuilder();
    history.stream()
        .sorted((one, other) -> Long.compare(one.invokedNs(), other.invokedNs()))
        .forEach(operation -> text.append(operation).append('\n'));
    return text.toString();
  }

  /** One thread's calls, each of which waits for its answer. */
  private static final class Client {
    private final Partition partition;
    private final Queue<Throwable> errors; // of the owner, which then answers no more
    private final int id;
    private final int round;
    private final Random random;
    private final List<JointKeys.Operation> history = new ArrayList<>();
    private final long[] seen = new long[JointKeys.KEYS]; // versions; 0: absent
    private volatile boolean answered;
    private int values;

    Client(Partition partition, Queue<Throwable> errors, int id, int round) {
      this.partition = partition;
      this.errors = errors;
      this.id = id;
      this.round = round;
      random = new Random(SEED * 1_000_003 + (long) round * THREADS + id);
    }

    List<JointKeys.Operation> run() {
      for (int i = 0; i < CALLS; i++) {
        final int key = random.nextInt(JointKeys.KEYS);
        final long value = Values.number(id, (long) round * CALLS + ++values);
        final long invokedNs = System.nanoTime();
        final JointKeys.Call call;
        final JointKeys.Answer answer;
        switch (random.nextInt(6)) {
          case 0 -> {
            call = new JointKeys.Call(JointKeys.Kind.PUT, key, value, 0, 0, false);
            final Write write = submit(write().put(name(key), Values.bytes(value)));
            answer = new JointKeys.Answer(write.created(), write.version(), List.of());
            seen[key] = write.version();
          }
          case 1 -> {
            call = new JointKeys.Call(JointKeys.Kind.DELETE, key, 0, 0, 0, false);
            final Write write = submit(write().delete(name(key)));
            answer = new JointKeys.Answer(write.existed(), 0, List.of());
            seen[key] = 0;
          }
          default -> {
            final int next = JointKeys.next(key);
            call =
                new JointKeys.Call(
                    JointKeys.Kind.TRANSACTION,
                    key,
                    value,
                    seen[key],
                    seen[next],
                    random.nextBoolean());
            final Transaction transaction =
                new Transaction(request(call), write -> this.answered = true);
            submit(transaction);
            answer = answer(call, transaction.response().build());
          }
        }
        history.add(new JointKeys.Operation(call, answer, invokedNs, System.nanoTime()));
      }
      return history;
    }

    private Write write() {
      return new Write(write -> this.answered = true);
    }

    private ByteString name(int key) {
      return ByteString.copyFromUtf8(round + "/" + key);
    }

    @SuppressWarnings("ThreadPriorityCheck") // or the others would have no core
    private Write submit(Write write) {
      answered = false;
      while (partition.submit(write) == Write.QUEUE_FULL) {
        Thread.yield();
      }
      while (!answered) {
        assertEquals(List.of(), List.copyOf(errors), "seed=" + SEED);
        Thread.yield();
      }
      assertEquals(Write.DONE, write.outcome());
      return write;
    }

    /** Compares two keys; then writes the first, writes or removes the second, reads the third. */
    private TransactRequest request(JointKeys.Call call) {
      final int second = JointKeys.next(call.key());
      final int third = JointKeys.next(second);
      final TransactRequest.Builder request = TransactRequest.newBuilder();
      request.addComparisonsBuilder().setKey(name(call.key())).setVersion(call.expected());
      request.addComparisonsBuilder().setKey(name(second)).setVersion(call.expectedOfNext());
      final ByteString value = Values.bytes(call.value());
      request.addThenBuilder().setKey(name(call.key())).getPutBuilder().setValue(value);
      if (call.removesNext()) {
        request.addThenBuilder().setKey(name(second)).getDeleteBuilder();
      } else {
        request.addThenBuilder().setKey(name(second)).getPutBuilder().setValue(value);
      }
      request.addThenBuilder().setKey(name(third)).getGetBuilder();
      for (final int key : new int[] {call.key(), second, third}) {
        request.addOtherwiseBuilder().setKey(name(key)).getGetBuilder();
      }
      return request.build();
    }

    private JointKeys.Answer answer(JointKeys.Call call, TransactResponse response) {
      final List<JointKeys.Found> found = new ArrayList<>();
      int key = call.key();
      for (final OperationAnswer answer : response.getAnswersList()) {
        final boolean has = answer.hasEntry();
        final long version = has ? answer.getEntry().getVersion() : 0;
        final long value = has ? Values.number(answer.getEntry().getValue()) : 0;
        found.add(new JointKeys.Found(answer.getExisted(), version, value));
        seen[key] = version;
        key = JointKeys.next(key);
      }
      if (response.getSucceeded()) {
        seen[call.key()] = response.getVersion();
        seen[JointKeys.next(call.key())] = call.removesNext() ? 0 : response.getVersion();
      }
      return new JointKeys.Answer(response.getSucceeded(), response.getVersion(), found);
    }
  }
}

package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.linearizability.Call.Kind;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.BookStore;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.LaterLog;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Threads that write a few keys through one partition and read its store beside: what they see must
 * be linearizable. {@code -Dringfetch.seed=SEED} draws other operations.
 */
final class PartitionLinearizabilityTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int THREADS = 4;
  private static final int ROUNDS = 12;
  private static final int CALLS = 150;
  private static final int KEYS = 3;
  private static final int CAPACITY = 16;
  private static final long PAUSE_NS = 20_000;
  private static final int SEGMENT_LENGTH = 1 << 20;
  private static final long INCARNATION = 7;

  private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();

  /** Whether each write has a number and is submitted twice. */
  private boolean twice;

  @Test
  void writesThatCommitAtOnceAreLinearizable() throws Exception {
    final BookStore store = new BookStore(1_000_000);
    check(new ImmediateLog(0), store, () -> store::read);
    assertEquals(0, store.reserved());
  }

  @Test
  void writesThatCommitLaterAreLinearizable() throws Exception {
    final BookStore store = new BookStore(1_000_000);
    try (LaterLog log = new LaterLog(PAUSE_NS)) {
      check(log, store, () -> store::read);
    }
    assertEquals(0, store.reserved());
  }

  @Test
  void writesThatComeTwiceAreLinearizable() throws Exception {
    twice = true;
    writesThatCommitAtOnceAreLinearizable();
    writesThatCommitLaterAreLinearizable();
    writesAndReadsOfIndexMemoryAreLinearizable();
  }

  /** Each client has a reader of its own, which takes no lock. */
  @Test
  void writesAndReadsOfIndexMemoryAreLinearizable() throws Exception {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, INCARNATION);
    final StoreMemory memory =
        new StoreMemory(
            new StoreMemory.Context()
                .segmentSource(DirectRegion::new)
                .segmentLength(SEGMENT_LENGTH)
                .budget(16L * SEGMENT_LENGTH)
                .gate(gate, 0)
                .incarnation(INCARNATION)
                .seed(SEED));
    memory.serve();
    final HashIndex index = new HashIndex(memory, 1);
    try (LaterLog log = new LaterLog(PAUSE_NS)) {
      check(log, index.partition(0), () -> reader(index));
    }
  }

  private static Function<ByteString, Entry> reader(HashIndex index) {
    final HashReader reader = index.newReader();
    final Found found = new Found();
    return key -> {
      while (true) {
        switch (reader.get(key, found)) {
          case FOUND -> {
            return Entry.newBuilder()
                .setKey(key)
                .setValue(found.value())
                .setVersion(found.version())
                .build();
          }
          case ABSENT -> {
            return null;
          }
          case UNDECIDED -> Thread.onSpinWait();
          default -> throw new AssertionError("not open");
        }
      }
    };
  }

  private void check(CommitLog log, EntryStore store, Supplier<Function<ByteString, Entry>> readers)
      throws Exception {
    final Partition partition = new Partition(store, log, CAPACITY, errors::add, Handover.never());
    final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      for (int round = 0; round < ROUNDS; round++) {
        final List<Future<List<Operation>>> running = new ArrayList<>();
        for (int id = 1; id <= THREADS; id++) {
          final Client client = new Client(partition, readers.get(), id, round, twice);
          running.add(threads.submit(client::run));
        }
        final List<Operation> history = new ArrayList<>();
        for (final Future<List<Operation>> one : running) {
          history.addAll(one.get(60, TimeUnit.SECONDS));
        }
        assertEquals(Optional.empty(), HistoryChecker.violation(history), "seed=" + SEED);
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(List.of(), List.copyOf(errors));
  }

  /** One thread's calls, each of which waits for its answer. */
  private static final class Client {
    private final Partition partition;
    private final Function<ByteString, Entry> reader;
    private final int id;
    private final int round;
    private final Random random;
    private final List<Operation> history = new ArrayList<>();
    private final long[] seen = new long[KEYS];
    private final Write write = new Write(answered -> this.answered = true);
    private final Write again = new Write(answered -> this.answeredAgain = true);
    private final NumberedClient numbered; // null: its writes have no numbers
    private volatile boolean answered;
    private volatile boolean answeredAgain;
    private int values;
    private long numbers;

    Client(
        Partition partition, Function<ByteString, Entry> reader, int id, int round, boolean twice) {
      numbered = twice ? new NumberedClient(id, 1) : null;
      this.partition = partition;
      this.reader = reader;
      this.id = id;
      this.round = round;
      random = new Random(SEED * 1_000_003 + (long) round * THREADS + id);
    }

    List<Operation> run() {
      for (int i = 0; i < CALLS; i++) {
        final int key = random.nextInt(KEYS);
        final ByteString bytes = ByteString.copyFromUtf8(round + "/" + key);
        final long invokedNs = System.nanoTime();
        final Call call;
        final Answer answer;
        switch (random.nextInt(5)) {
          case 0, 1 -> {
            call = Call.read(Kind.GET);
            answer = answer(reader.apply(bytes), true);
          }
          case 2 -> {
            call = Call.put(value());
            submit(write.put(bytes, Values.bytes(call.value())));
            answer = new Answer(write.created(), write.version(), 0);
          }
          case 3 -> {
            call = Call.delete();
            submit(write.delete(bytes));
            answer = new Answer(write.existed(), 0, 0);
          }
          default -> {
            call = Call.compareAndSet(seen[key], value());
            submit(write.compareAndSet(bytes, call.expected(), Values.bytes(call.value())));
            answer = answer(write.entry(), write.applied());
          }
        }
        seen[key] = answer.version();
        history.add(new Operation(key, call, answer, false, invokedNs, System.nanoTime()));
      }
      return history;
    }

    @SuppressWarnings("ThreadPriorityCheck") // or the others would have no core
    private void submit(Write prepared) {
      answered = false;
      answeredAgain = numbered == null;
      if (numbered != null) {
        numbered.complete(++numbers);
        prepared.numbered(numbered, numbers);
      }
      while (partition.submit(prepared) == Write.QUEUE_FULL) {
        Thread.yield();
      }
      if (numbered != null) {
        while (partition.submit(copy(prepared)) == Write.QUEUE_FULL) {
          Thread.yield();
        }
      }
      while (!answered || !answeredAgain) {
        Thread.yield();
      }
      assertEquals(Write.DONE, prepared.outcome());
      if (numbered != null) {
        assertEquals(Write.DONE, again.outcome());
        assertEquals(prepared.version(), again.version());
        assertEquals(prepared.created(), again.created());
        assertEquals(prepared.existed(), again.existed());
        assertEquals(prepared.applied(), again.applied());
      }
    }

    private Write copy(Write of) {
      switch (of.kind()) {
        case PUT -> again.put(of.key(), of.value());
        case DELETE -> again.delete(of.key());
        default -> again.compareAndSet(of.key(), of.expectedVersion(), of.value());
      }
      return again.numbered(numbered, numbers);
    }

    private long value() {
      return Values.number(id, (long) round * CALLS + ++values);
    }

    private static Answer answer(Entry entry, boolean yes) {
      return entry == null
          ? new Answer(false, 0, 0)
          : new Answer(yes, entry.getVersion(), Values.number(entry.getValue()));
    }
  }
}

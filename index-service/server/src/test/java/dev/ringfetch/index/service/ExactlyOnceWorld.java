package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.OutcomeDescriptor;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.ClientLog;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Clients, a network that delays, repeats and reorders their writes, and the servers of one data
 * directory, one after the other, on a simulated disk; on one thread, drawn from a seed.
 *
 * <p>Two partitions: one of an ordered index with durability DISK, one of a hash index with
 * INTERVAL. What was carried out is what their records say: no write may have two, none may have
 * one that was said never to be carried out, and each that was answered must have what the answer
 * says, after each crash.
 */
final class ExactlyOnceWorld {
  private static final int CLIENTS = 3;
  private static final int KEYS = 3;
  private static final int DISK = 0;
  private static final int RANGE_LIMIT = 2;
  private static final int SEGMENT_LENGTH = 4 << 20;
  private static final Duration TERM = Duration.ofMillis(500);

  /** A write of a client, which knows what it was answered. */
  private final class Op {
    final long client;
    final long number;
    final int index;
    final Write.Kind kind;
    final ByteString key;
    final long expected;
    int sent;
    int delivered;
    String answer;
    boolean isPositive;
    long detail;
    int answeredIn;

    Op(long client, long number) {
      this.client = client;
      this.number = number;
      index = random.nextInt(2);
      kind =
          switch (random.nextInt(10)) {
            case 0, 1 -> Write.Kind.PUT;
            case 2, 3 -> Write.Kind.DELETE;
            case 4 -> index == DISK ? Write.Kind.RANGE_END : Write.Kind.PUT;
            case 5, 6 -> Write.Kind.INCREMENT;
            case 7 -> Write.Kind.TOUCH;
            default -> Write.Kind.COMPARE_AND_SET;
          };
      // Some increments find a value that is no counter.
      final boolean counts = random.nextInt(4) > (kind == Write.Kind.INCREMENT ? 0 : 2);
      key = ByteString.copyFromUtf8(counts ? "n" : "k" + random.nextInt(KEYS));
      expected = random.nextInt(3) == 0 ? 0 : newest.getOrDefault(index + key.toStringUtf8(), 0L);
    }

    String id() {
      return client + "/" + number;
    }

    @Override
    public String toString() {
      return kind + " " + key.toStringUtf8() + " index=" + index + " id=" + id();
    }
  }

  /** What a record says. */
  private record Rec(int index, OutcomeKind kind, long detail, long lsn) {
    boolean isChange() {
      return kind == OutcomeKind.WRITTEN || kind == OutcomeKind.DELETED;
    }
  }

  private record Message(Op op, long firstIncomplete) {}

  private static final class Client {
    long id;
    long next = 1;
    boolean opening;
    final List<Op> incomplete = new ArrayList<>();

    long first() {
      return incomplete.stream().mapToLong(op -> op.number).min().orElse(next);
    }
  }

  private final Random random;
  private final SimulatedDisk disk = new SimulatedDisk();
  private final List<Client> clients = new ArrayList<>();
  private final List<Message> network = new ArrayList<>();
  private final List<Op> answered = new ArrayList<>();
  private final Map<String, Long> newest = new HashMap<>();

  /** Of numbered writes, in the journal or on their way. */
  private Map<String, List<Rec>> records = new HashMap<>();

  // Of the present server.
  private Journal journal;
  private ClientRegistry registry;
  private final Partition[] partitions = new Partition[2];
  private final Map<Long, Long> firsts = new HashMap<>();
  private final Set<Long> gone = new HashSet<>();
  private final List<Throwable> errors = new ArrayList<>();
  private int life;
  private long nowNs;

  int repeated;
  int late;
  int ended;
  int ranges;

  /** Increments that were answered by a server, and again by a later one. */
  int counted;

  int failures;

  ExactlyOnceWorld(long seed) {
    random = new Random(seed);
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(new Client());
    }
  }

  /** The disk. */
  SimulatedDisk disk() {
    return disk;
  }

  void run(int lives, int steps) throws IOException {
    create();
    for (int i = 0; i < lives; i++) {
      if (!start()) {
        continue;
      }
      for (int left = random.nextInt(steps); left > 0; left--) {
        act();
      }
      end();
    }
    disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
    check(start(), "the last server did not start");
  }

  private static void check(boolean holds, Object otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  private Journal.Context context() {
    return new Journal.Context()
        .segmentLength(SEGMENT_LENGTH)
        .interval(10_000_000)
        .owner(7, ++life);
  }

  private void create() throws IOException {
    final Journal first = Journal.open(disk, context(), (record, place) -> {});
    first.create(
        1, "a", new IndexDefinition(IndexKind.ORDERED, Durability.DISK, 1, 0, 1), () -> {});
    first.create(
        2, "b", new IndexDefinition(IndexKind.HASH, Durability.INTERVAL, 1, 3, 2), () -> {});
    first.close();
  }

  private static StoreMemory memory() throws IOException {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, 1);
    final StoreMemory memory =
        new StoreMemory(
            new StoreMemory.Context()
                .segmentSource(DirectRegion::new)
                .segmentLength(1 << 20)
                .budget(8 << 20)
                .gate(gate, 0)
                .incarnation(1)
                .seed(1));
    memory.serve();
    return memory;
  }

  /** Starts a server on what the last one has left; false if the disk fails meanwhile. */
  private boolean start() throws IOException {
    final JournalReplay replay =
        new JournalReplay(memory(), new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT));
    final Map<String, List<Rec>> found = new HashMap<>();
    try {
      journal =
          Journal.open(
              disk,
              context(),
              (record, place) -> {
                replay.onRecord(record, place);
                note(found, record);
              });
      if (!journal.wasClean()) {
        journal.skip();
        replay.indexes().forEach(index -> index.skip(Journal.LOST_LIMIT));
      }
    } catch (IOException e) {
      failures++;
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      disk.powerCut(random);
      return false;
    }
    compare(found);
    records = found;
    registry = new ClientRegistry(TERM, 100, () -> nowNs);
    registry.recover(
        new ClientLog() {
          @Override
          public boolean opened(long client, long firstIncomplete, Runnable done) {
            return journal.openClient(client, firstIncomplete, done);
          }

          @Override
          public void closed(long client) {
            journal.closeClient(client, () -> {});
          }
        },
        replay.clients());
    for (final RecoveredIndex index : replay.indexes()) {
      final int number = (int) index.entry().number() - 1;
      final CommitLog log =
          journal.log(number + 1, 0, index.entry().definition().durability(), index.last(0));
      partitions[number] =
          new Partition(
              index.index().partition(0),
              noting(log, number),
              new Partition.Context(
                  16,
                  new OwnerContext(errors::add, Handover.never(), TimeSource.ofSystem()),
                  index.outcomes(0)));
    }
    firsts.clear();
    gone.clear();
    return true;
  }

  private static void note(Map<String, List<Rec>> found, JournalRecord record) {
    if (record.client() == 0 || record.type() >= RecordDescriptor.CREATE_INDEX) {
      return;
    }
    final OutcomeKind kind =
        switch (record.type()) {
          case RecordDescriptor.PUT -> OutcomeKind.WRITTEN;
          case RecordDescriptor.DELETE -> OutcomeKind.DELETED;
          default -> OutcomeDescriptor.kind(record.value());
        };
    final ByteString value = record.value();
    final long detail =
        switch (record.type()) {
          case RecordDescriptor.OUTCOME -> OutcomeDescriptor.detail(value);
          case RecordDescriptor.PUT ->
              CounterDescriptor.isCounter(value) ? CounterDescriptor.number(value) : 0;
          default -> 0;
        };
    found
        .computeIfAbsent(
            record.client() + "/" + NumberedClient.number(record.request()),
            id -> new ArrayList<>())
        .add(new Rec((int) record.index() - 1, kind, detail, record.lsn()));
  }

  /** What was answered must be there, as it was answered; but for what had not to be synced. */
  private void compare(Map<String, List<Rec>> found) {
    for (final Op op : answered) {
      final List<Rec> list = found.getOrDefault(op.id(), List.of());
      if (op.index == DISK || !list.isEmpty()) {
        checkAnswer(op, list);
      } else {
        op.answer = null; // lost with what it changed, and may be carried out again
      }
    }
    found.forEach((id, list) -> list.forEach(rec -> checkOnce(id, list)));
    answered.removeIf(op -> op.answer == null);
  }

  private static void checkOnce(String id, List<Rec> list) {
    final long deletes = list.stream().filter(rec -> rec.kind == OutcomeKind.DELETED).count();
    final boolean isRange = list.stream().anyMatch(rec -> rec.kind == OutcomeKind.RANGE);
    if (!isRange && deletes == list.size()) {
      return; // deletes of a range that has not ended are several; others were checked before
    }
    check(list.size() == (isRange ? deletes + 1 : 1), "twice: id=" + id + " " + list);
    if (isRange) {
      final Rec last = list.get(list.size() - 1);
      check(last.kind == OutcomeKind.RANGE && last.detail >> 1 == deletes, id + " " + list);
    }
  }

  private void checkAnswer(Op op, List<Rec> list) {
    check(!list.isEmpty(), "answered and lost: " + op + " answer=" + op.answer);
    if (op.kind == Write.Kind.RANGE_END) {
      checkOnce(op.id(), list);
    } else {
      check(list.size() == 1, "twice: " + op + " " + list);
      check(list.get(0).isChange() == op.isPositive, op + " answer=" + op.answer + " " + list);
      check(
          op.kind != Write.Kind.INCREMENT || list.get(0).detail == op.detail,
          op + " answer=" + op.answer + " " + list);
    }
  }

  private CommitLog noting(CommitLog log, int index) {
    return new CommitLog() {
      @Override
      public long append(Write write) {
        final long lsn = log.append(write);
        if (lsn > 0) {
          appended(index, write, lsn);
        }
        return lsn;
      }

      @Override
      public long committed() {
        return log.committed();
      }

      @Override
      public void onCommit(Runnable listener) {
        log.onCommit(listener);
      }

      @Override
      public boolean hasRoom() {
        return log.hasRoom();
      }
    };
  }

  private void appended(int index, Write write, long lsn) {
    final long client = write.client().id();
    final String id = client + "/" + write.number();
    check(!gone.contains(client), "of a client that was gone: " + id);
    check(write.number() >= firsts.getOrDefault(client, 0L), "complete before: " + id);
    final List<Rec> list = records.computeIfAbsent(id, unused -> new ArrayList<>());
    final OutcomeKind kind = write.outcomeKind();
    final boolean isOfRange =
        write.kind() == Write.Kind.RANGE_DELETE || write.kind() == Write.Kind.RANGE_END;
    check(
        isOfRange ? list.stream().allMatch(rec -> rec.kind == OutcomeKind.DELETED) : list.isEmpty(),
        "carried out again: " + id + " " + write.kind() + " before=" + list);
    list.add(new Rec(index, kind, write.detail(), lsn));
    if (kind == OutcomeKind.WRITTEN || kind == OutcomeKind.DELETED) {
      newest.put(index + write.key().toStringUtf8(), kind == OutcomeKind.WRITTEN ? lsn : 0);
    }
  }

  private void act() {
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> write(clients.get(random.nextInt(CLIENTS)));
      case 4, 5 -> repeat(clients.get(random.nextInt(CLIENTS)));
      case 6 -> giveUp(clients.get(random.nextInt(CLIENTS)));
      case 7 -> {
        if (!network.isEmpty() && random.nextInt(3) == 0) {
          network.remove(random.nextInt(network.size()));
        }
      }
      case 8 -> {
        nowNs += random.nextInt(20_000_000);
        if (random.nextInt(20) == 0) {
          nowNs += TERM.toNanos() + 1;
        }
      }
      case 9 -> disk.full(random.nextInt(8) == 0);
      case 10 -> {
        if (random.nextInt(40) == 0) {
          disk.failAfter(random.nextInt(10), SimulatedDisk.Fault.IO_ERROR);
        }
      }
      case 11, 12, 13 -> journal.work(nowNs);
      default -> {
        if (!network.isEmpty()) {
          final int at = random.nextInt(network.size());
          // Some stay, to come again.
          deliver(random.nextInt(4) == 0 ? network.get(at) : network.remove(at));
        }
      }
    }
    check(errors.isEmpty(), errors);
  }

  private void write(Client client) {
    if (client.id == 0) {
      if (!client.opening) {
        client.opening = true;
        final int opener = life;
        final int refused =
            registry.open(
                0,
                opened -> {
                  if (opener == life && !journal.isFailed()) {
                    client.id = opened.id();
                    client.next = 1;
                    client.opening = false;
                  }
                });
        client.opening &= refused == 0;
      }
      return;
    }
    final Op op = new Op(client.id, client.next++);
    client.incomplete.add(op);
    send(client, op);
  }

  private void repeat(Client client) {
    if (!client.incomplete.isEmpty()) {
      send(client, client.incomplete.get(random.nextInt(client.incomplete.size())));
    }
  }

  private void giveUp(Client client) {
    if (!client.incomplete.isEmpty() && random.nextInt(4) == 0) {
      client.incomplete.remove(random.nextInt(client.incomplete.size()));
    }
  }

  private void send(Client client, Op op) {
    op.sent++;
    network.add(new Message(op, client.first()));
  }

  /** As the service does it. */
  private void deliver(Message message) {
    final Op op = message.op;
    op.delivered++;
    final NumberedClient client = registry.find(op.client);
    if (client == null) {
      gone.add(op.client);
      toldGone(op);
      return;
    }
    client.complete(message.firstIncomplete);
    firsts.merge(op.client, message.firstIncomplete, Math::max);
    if (!client.keeps(op.number)) {
      toldGone(op);
      return;
    }
    switch (op.kind) {
      case PUT -> submit(op, new Write(write -> told(op, write)).put(op.key, value(op)), client);
      case DELETE ->
          submit(op, new Write(write -> told(op, write)).deleteIf(op.key, op.expected), client);
      case INCREMENT ->
          submit(op, new Write(write -> told(op, write)).increment(op.key, op.number), client);
      case TOUCH ->
          submit(op, new Write(write -> told(op, write)).touch(op.key, op.expected, 0), client);
      case COMPARE_AND_SET ->
          submit(
              op,
              new Write(write -> told(op, write)).compareAndSet(op.key, op.expected, value(op)),
              client);
      default ->
          submit(op, new Write(write -> rangeStep(op, write, client, 0)).rangeBegin(), client);
    }
  }

  private static ByteString value(Op op) {
    return ByteString.copyFromUtf8(op.id());
  }

  private void submit(Op op, Write write, NumberedClient client) {
    // Refused where the queue is full: then nobody is told anything.
    partitions[op.index].submit(write.numbered(client, op.number));
  }

  private void rangeStep(Op op, Write write, NumberedClient client, int key) {
    if (write.outcome() == Write.OUTCOME_GONE && write.kind() != Write.Kind.RANGE_BEGIN) {
      return; // carried out in part
    }
    if (write.outcome() != Write.DONE || write.hasRangeEnded()) {
      told(op, write);
      return;
    }
    if (key < KEYS) {
      submit(
          op,
          new Write(deleted -> rangeStep(op, deleted, client, key + 1))
              .rangeDelete(ByteString.copyFromUtf8("k" + key), RANGE_LIMIT),
          client);
    } else {
      submit(op, new Write(end -> rangeStep(op, end, client, KEYS)).rangeEnd(false), client);
    }
  }

  private void toldGone(Op op) {
    if (gone.contains(op.client)) {
      ended++;
    } else {
      late++;
    }
    if (op.sent == 1 && op.delivered == 1) { // then the client sends it under another number
      check(records.getOrDefault(op.id(), List.of()).isEmpty(), "it was carried out: " + op);
    }
    for (final Client client : clients) {
      client.incomplete.remove(op);
      if (client.id == op.client && gone.contains(op.client)) {
        client.id = 0;
        client.incomplete.clear();
      }
    }
  }

  private void told(Op op, Write write) {
    switch (write.outcome()) {
      case Write.DONE -> {
        final boolean isRange = op.kind == Write.Kind.RANGE_END;
        final String answer =
            isRange
                ? "removed=" + write.removed()
                : "yes="
                    + (write.created() || write.existed() || write.applied())
                    + " version="
                    + write.version()
                    + (op.kind == Write.Kind.INCREMENT ? " counter=" + write.detail() : "");
        if (op.answer == null) {
          op.answer = answer;
          op.isPositive = !write.isUnchanged();
          op.detail = write.detail();
          op.answeredIn = life;
          answered.add(op);
          ranges += isRange && write.removed() > 0 ? 1 : 0;
        } else {
          repeated++;
          counted += op.kind == Write.Kind.INCREMENT && op.answeredIn != life ? 1 : 0;
          check(op.answer.equals(answer), op + " first=" + op.answer + " then=" + answer);
        }
        checkAnswer(op, records.getOrDefault(op.id(), List.of()));
        if (op.kind == Write.Kind.COMPARE_AND_SET && !write.applied()) {
          check(
              write.entry() == null || write.entry().getVersion() == write.detail(),
              op + " entry=" + write.entry());
          check(write.entry() != null || write.isValueGone() == (write.detail() != 0), op);
        }
        clients.forEach(client -> client.incomplete.remove(op));
      }
      case Write.OUTCOME_GONE -> toldGone(op);
      case Write.LOG_FULL -> check(journal.obstacle() != null, op + " refused without a reason");
      case Write.UNAVAILABLE, Write.UNKNOWN -> {}
      default -> throw new AssertionError(op + " outcome=" + write.outcome());
    }
  }

  private void end() throws IOException {
    failures += journal.isFailed() ? 1 : 0;
    if (!journal.isFailed() && random.nextInt(4) == 0) {
      disk.full(false);
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      journal.close();
      disk.powerCut(random);
    } else if (random.nextBoolean()) {
      disk.kill();
    } else {
      disk.powerCut(random);
    }
    disk.full(false);
    // A record that ends a client may be lost: nobody sends under its number any more.
    network.removeIf(message -> gone.contains(message.op.client) || random.nextBoolean());
    clients.forEach(client -> client.opening = false);
  }
}

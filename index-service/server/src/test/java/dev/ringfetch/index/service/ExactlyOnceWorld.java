package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.CrashingDisk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalDamagedException;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.partition.PutBatch;
import dev.ringfetch.index.partition.Transaction;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.partition.WriteKind;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.TransactRequest;
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
 * directory, one after the other, on a simulated disk, with snapshots; on one thread, drawn from a
 * seed.
 *
 * <p>Four indexes: an ordered one with durability DISK, hash indexes with LEADER_DISK and INTERVAL,
 * and one for appends, which keeps a limited number of bytes. What was carried out is what their
 * records say: no write may have two, none may have one that was said never to be carried out, and
 * each that was answered must have what the answer says, after each crash; but a crash may take
 * what INTERVAL has answered. Each server must find the entries that the records up to its last one
 * make.
 */
final class ExactlyOnceWorld {
  private static final int CLIENTS = 8;
  private static final int KEYS = 3;
  private static final List<String> NAMES = List.of("ordered", "hash", "interval", "log");
  private static final List<IndexDefinition> DEFINITIONS =
      List.of(
          new IndexDefinition(IndexKind.ORDERED, Durability.DISK, 1, 0, 1),
          new IndexDefinition(IndexKind.HASH, Durability.LEADER_DISK, 1, 3, 2),
          new IndexDefinition(IndexKind.HASH, Durability.INTERVAL, 1, 4, 3),
          new IndexDefinition(
              IndexKind.ORDERED,
              Durability.DISK,
              1,
              0,
              4,
              Appends.newBuilder().setRetentionBytes(300_000).build()));
  private static final int ORDERED = 0;
  private static final int INTERVAL = 2;
  private static final int LOG = 3;
  private static final int RANGE_LIMIT = 2;
  private static final int LONGEST = 60_000;
  private static final Duration TERM = Duration.ofMillis(500);

  /** So many steps of a server that no disk hinders lead all its indexes. */
  private static final int START_STEPS = 1_000;

  /** A write of a client, which knows what it was answered. */
  private final class Op {
    final long client;
    final long number;
    final int index;
    final WriteKind kind;
    final ByteString key;
    final long expected;
    int sent;
    int delivered;
    String answer;
    boolean isPositive;
    long detail;
    int answeredIn;

    Op(Client of, long number) {
      client = of.id;
      index = of.index;
      this.number = number;
      kind =
          switch (index == LOG ? 0 : random.nextInt(13)) {
            case 0, 1 -> WriteKind.PUT;
            case 2, 3 -> WriteKind.DELETE;
            case 4 -> index == ORDERED ? WriteKind.RANGE_END : WriteKind.PUT;
            case 5, 6 -> WriteKind.INCREMENT;
            case 7 -> WriteKind.TOUCH;
            case 10, 11, 12 -> WriteKind.TRANSACTION;
            default -> WriteKind.COMPARE_AND_SET;
          };
      // Some increments find a value that is no counter.
      final boolean counts = random.nextInt(4) > (kind == WriteKind.INCREMENT ? 0 : 2);
      key = ByteString.copyFromUtf8(counts ? "n" : "k" + random.nextInt(KEYS));
      expected = random.nextInt(3) == 0 ? 0 : newest.getOrDefault(index + key.toStringUtf8(), 0L);
    }

    String id() {
      return IndexHistory.id(client, number);
    }

    @Override
    public String toString() {
      return kind + " " + key.toStringUtf8() + " index=" + index + " id=" + id();
    }
  }

  private record Message(Op op, long firstIncomplete) {}

  private static final class Client {
    final int index;
    long id;
    long next = 1;
    boolean opening;
    final List<Op> incomplete = new ArrayList<>();

    Client(int index) {
      this.index = index;
    }

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

  private final List<IndexHistory> histories =
      List.of(new IndexHistory(), new IndexHistory(), new IndexHistory(), new IndexHistory());

  /** Of each index, the largest version that was answered: no other record gets it. */
  private final long[] answeredVersions = new long[NAMES.size()];

  // Of the present server.
  private SimulatedServer server;
  private final Map<Long, Long> firsts = new HashMap<>();
  private final Set<Long> gone = new HashSet<>();
  private int life;

  /** Whether the server before has ended in order. */
  private boolean endedInOrder;

  private long nowNs;

  final SimulatedServer.Counts snapshots = new SimulatedServer.Counts();
  int repeated;
  int late;
  int ended;
  int ranges;

  /** Increments that were answered by a server, and again by a later one. */
  int counted;

  /** Transactions that were answered by a server, and again by a later one. */
  int transacted;

  /** Appends that were answered by a server, and again by a later one. */
  int appended;

  /** Records that were removed as there were too many. */
  int outgrown;

  /** Time of the newest record of the log, over all servers. */
  private long lastMs;

  /** Answers of INTERVAL that a crash has taken. */
  int lost;

  int failures;

  /** Servers that have begun with a snapshot. */
  int fromSnapshots;

  /** Servers that ended at a step of a snapshot. */
  int duringSnapshots;

  /** Segments of the journal that were removed. */
  int removed;

  ExactlyOnceWorld(long seed) {
    random = new Random(seed);
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(new Client(i % NAMES.size()));
    }
  }

  /** The disk. */
  SimulatedDisk disk() {
    return disk;
  }

  void run(int lives, int steps) throws IOException {
    for (int i = 0; i < lives; i++) {
      if (start(i > 0 && random.nextInt(5) == 0)) {
        end(live(random.nextInt(steps)));
      }
    }
    check(start(false), "the last server did not start");
  }

  /** Returns whether the process has ended at a step of a snapshot. */
  private boolean live(int steps) {
    try {
      for (int left = steps; left > 0; left--) {
        act();
      }
      return false;
    } catch (CrashingDisk.Crash crash) {
      duringSnapshots++;
      return true;
    }
  }

  private static void check(boolean holds, Object otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** Starts a server on what the last one has left; false if the disk fails meanwhile. */
  private boolean start(boolean mayFail) throws IOException {
    life++;
    firsts.clear();
    gone.clear();
    if (mayFail) {
      disk.failAfter(random.nextInt(60), SimulatedDisk.Fault.IO_ERROR);
    }
    try {
      server = new SimulatedServer(disk, random, life, () -> nowNs, TERM, new Watcher());
    } catch (JournalDamagedException e) {
      throw new AssertionError("refused what a crash has left", e);
    } catch (IOException e) {
      check(mayFail, e);
      failures++;
      disk.powerCut(random);
      return false;
    }
    if (life == 1) {
      for (int i = 0; i < NAMES.size(); i++) {
        server.create(NAMES.get(i), DEFINITIONS.get(i));
      }
    }
    for (int i = 0; i < START_STEPS && server.count() < NAMES.size(); i++) {
      server.work();
      server.sync();
      nowNs += 1_000_000;
    }
    check(server.errors().isEmpty(), server.errors());
    if (server.count() < NAMES.size()) {
      check(mayFail && server.journal().isFailed(), "does not lead all");
      end(true);
      return false;
    }
    disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
    fromSnapshots += server.journal().recoveredSnapshot() == 0 ? 0 : 1;
    answered.removeIf(this::isLost);
    answered.forEach(this::checkAnswer);
    endedInOrder = false;
    return true;
  }

  /** Whether what was answered is gone, as it may be; then it may be carried out again. */
  private boolean isLost(Op op) {
    final boolean isLost = op.index == INTERVAL && !endedInOrder && done(op).isEmpty();
    op.answer = isLost ? null : op.answer;
    lost += isLost ? 1 : 0;
    return isLost;
  }

  /** Compares what a server finds and appends with what was before. */
  private final class Watcher implements SimulatedServer.Observer {
    @Override
    public void onLead(String index, RecoveredIndex recovered, List<JournalRecord> journaled) {
      final int number = NAMES.indexOf(index);
      check(
          recovered.last(0) >= answeredVersions[number] || (number == INTERVAL && !endedInOrder),
          "lost: index=" + index + " version=" + answeredVersions[number]);
      histories.get(number).recover(recovered, journaled);
    }

    @Override
    public void onAppend(String index, Write write, long lsn) {
      appended(NAMES.indexOf(index), write, lsn);
    }
  }

  /** What was answered must be there, as it was answered. */
  private void checkAnswer(Op op) {
    final List<IndexHistory.Done> list = done(op);
    check(!list.isEmpty(), "answered and lost: " + op + " answer=" + op.answer);
    if (op.kind == WriteKind.RANGE_END) {
      histories.get(op.index).checkOnce(op.id());
    } else {
      check(list.size() == 1, "twice: " + op + " " + list);
      check(list.get(0).isChange() == op.isPositive, op + " answer=" + op.answer + " " + list);
      check(
          op.kind != WriteKind.INCREMENT || list.get(0).detail() == op.detail,
          op + " answer=" + op.answer + " " + list);
    }
  }

  private List<IndexHistory.Done> done(Op op) {
    return histories.get(op.index).of(op.id());
  }

  private void appended(int index, Write write, long lsn) {
    if (write.client() != null) {
      final long client = write.client().id();
      final String id = IndexHistory.id(client, write.number());
      check(!gone.contains(client), "of a client that was gone: " + id);
      check(write.number() >= firsts.getOrDefault(client, 0L), "complete before: " + id);
      final List<IndexHistory.Done> list = histories.get(index).of(id);
      final boolean isOfRange =
          write.kind() == WriteKind.RANGE_DELETE || write.kind() == WriteKind.RANGE_END;
      check(
          isOfRange
              ? list.stream().allMatch(done -> done.kind() == OutcomeKind.DELETED)
              : list.isEmpty(),
          "carried out again: " + id + " " + write.kind() + " before=" + list);
    }
    check(lsn > answeredVersions[index], "lsn=" + lsn + " answered=" + answeredVersions[index]);
    if (index == LOG) {
      checkLog(write, lsn);
    }
    histories.get(index).append(write, lsn);
    for (Write part = write.firstPart(); part != null; part = part.nextPart()) {
      if (!part.isUnchanged()) {
        newest.put(index + part.key().toStringUtf8(), part.removesEntry() ? 0 : lsn);
      }
    }
  }

  /** Offsets are versions, and times do not go back; nothing but the oldest records goes. */
  private void checkLog(Write write, long lsn) {
    if (write.isExpired()) {
      outgrown++;
      check(write.key().equals(histories.get(LOG).firstKey()), "not the oldest: lsn=" + lsn);
    } else if (write.kind() == WriteKind.PUT) {
      check(write.key().equals(AppendDescriptor.key(lsn)), "key=" + write.key() + " lsn=" + lsn);
      final long timeMs = AppendDescriptor.time(write.value());
      check(timeMs >= lastMs, "time=" + timeMs + " before=" + lastMs);
      lastMs = timeMs;
    }
  }

  private void act() {
    switch (random.nextInt(24)) {
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
      case 11, 12, 13 -> server.sync();
      case 14, 15 -> server.work();
      case 16 -> {
        if (random.nextInt(3) == 0) {
          fill(random.nextInt(NAMES.size()), random.nextInt(40));
        }
      }
      case 17 -> {
        if (random.nextInt(10) == 0) {
          server.snapshot(snapshots);
        }
      }
      case 18, 19 -> workOnSnapshot();
      default -> {
        if (!network.isEmpty()) {
          final int at = random.nextInt(network.size());
          // Some stay, to come again.
          deliver(random.nextInt(4) == 0 ? network.get(at) : network.remove(at));
        }
      }
    }
    check(server.errors().isEmpty(), server.errors());
  }

  /** Puts long values, without numbers. */
  private void fill(int index, int count) {
    final ServedIndex served = server.find(NAMES.get(index));
    for (int i = 0; i < count && served != null; i++) {
      final byte[] value = new byte[random.nextInt(LONGEST)];
      random.nextBytes(value);
      if (index == LOG) {
        final PutBatch batch = new PutBatch(ended -> noteVersion(index, ended.write(0)));
        batch.append(served.partition(0), ByteString.copyFrom(value));
        batch.submit();
        continue;
      }
      final Write put =
          new Write(
              write -> {
                if (write.outcome() == Write.DONE) {
                  noteVersion(index, write);
                }
              });
      served
          .partition(0)
          .submit(
              put.put(
                  ByteString.copyFromUtf8("long " + random.nextInt(count)),
                  ByteString.copyFrom(value)));
    }
  }

  /** Notes the version of an answered write; 0 if it was not carried out. */
  private void noteVersion(int index, Write answered) {
    answeredVersions[index] = Math.max(answeredVersions[index], answered.version());
  }

  private void workOnSnapshot() {
    final int segments = segments();
    final boolean fails = random.nextInt(30) == 0;
    final boolean wasFailed = server.journal().isFailed();
    if (fails) {
      disk.failAfter(
          random.nextInt(6),
          random.nextBoolean() ? SimulatedDisk.Fault.IO_ERROR : SimulatedDisk.Fault.FULL);
    } else if (random.nextInt(200) == 0) {
      server.crashAfter(random.nextInt(8));
    }
    for (int left = random.nextInt(20); left > 0; left--) {
      server.workOnSnapshot();
      nowNs += 1_000_000;
    }
    if (fails) {
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      check(wasFailed == server.journal().isFailed(), "a snapshot has ended the journal");
    }
    removed += Math.max(0, segments - segments());
  }

  private int segments() {
    return (int) disk.names().stream().filter(name -> name.startsWith("journal-")).count();
  }

  private void write(Client client) {
    if (client.id == 0) {
      final ServedIndex index = server.find(NAMES.get(client.index));
      if (!client.opening && index != null) {
        client.opening = true;
        final SimulatedServer opener = server;
        final int refused =
            index
                .leadership()
                .clients()
                .open(
                    0,
                    opened -> {
                      if (opener == server && !opener.journal().isFailed()) {
                        client.id = opened.id();
                        client.next = 1;
                        client.opening = false;
                      }
                    });
        client.opening &= refused == 0;
      }
      return;
    }
    final Op op = new Op(client, client.next++);
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
    final ServedIndex index = server.find(NAMES.get(op.index));
    if (index == null) {
      return; // as UNAVAILABLE
    }
    final NumberedClient client = index.leadership().clients().find(op.client);
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
      case PUT -> {
        if (op.index == LOG) {
          final PutBatch batch = new PutBatch(ended -> told(op, ended.write(0)));
          batch.append(index.partition(0), value(op)).numbered(client, op.number);
          batch.submit();
          return;
        }
        final Write write = new Write(answered -> told(op, answered));
        final boolean isGetAndSet = op.number % 2 == 0;
        submit(
            op,
            isGetAndSet ? write.getAndSet(op.key, value(op)) : write.put(op.key, value(op)),
            client);
      }
      case TRANSACTION ->
          submit(op, new Transaction(transaction(op), write -> told(op, write)), client);
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

  /** Several changes if the entry has the expected version; else other ones. */
  private static TransactRequest transaction(Op op) {
    final TransactRequest.Builder request = TransactRequest.newBuilder();
    request.addComparisonsBuilder().setKey(op.key).setVersion(op.expected);
    final ByteString other = ByteString.copyFromUtf8("k" + op.number % KEYS);
    request.addThenBuilder().setKey(other).getGetBuilder();
    request.addThenBuilder().setKey(other).getPutBuilder().setValue(value(op));
    if (!op.key.equals(other)) {
      request.addThenBuilder().setKey(op.key).getDeleteBuilder();
    }
    final ByteString counter = ByteString.copyFromUtf8("n");
    if (!op.key.equals(counter)) {
      request.addThenBuilder().setKey(counter).getIncrementBuilder().setDelta(op.number);
    }
    request.addOtherwiseBuilder().setKey(op.key).getGetBuilder();
    if (op.number % 3 == 0) {
      request.addOtherwiseBuilder().setKey(counter).getDeleteBuilder();
      request.addOtherwiseBuilder().setKey(other).getPutBuilder().setValue(value(op));
    }
    return request.build();
  }

  private static ByteString value(Op op) {
    return ByteString.copyFromUtf8(op.id());
  }

  private void submit(Op op, Write write, NumberedClient client) {
    final ServedIndex index = server.find(NAMES.get(op.index));
    if (index != null) {
      // Refused where the queue is full: then nobody is told anything.
      index.partition(0).submit(write.numbered(client, op.number));
    }
  }

  private void rangeStep(Op op, Write write, NumberedClient client, int key) {
    if (write.outcome() == Write.OUTCOME_GONE && write.kind() != WriteKind.RANGE_BEGIN) {
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
      check(done(op).isEmpty(), "it was carried out: " + op);
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
        noteVersion(op.index, write);
        final boolean isRange = op.kind == WriteKind.RANGE_END;
        final String answer =
            isRange
                ? "removed=" + write.removed()
                : "yes="
                    + (write.created() || write.existed() || write.applied())
                    + " version="
                    + write.version()
                    + (op.kind == WriteKind.INCREMENT ? " counter=" + write.detail() : "")
                    + (write.answersPrevious() ? " previous=" + write.entry() : "")
                    + (write instanceof Transaction transaction ? text(transaction) : "");
        if (op.answer == null) {
          op.answer = answer;
          op.isPositive = !write.isUnchanged();
          op.detail = write.detail();
          op.answeredIn = life;
          answered.add(op);
          ranges += isRange && write.removed() > 0 ? 1 : 0;
        } else {
          repeated++;
          appended += op.index == LOG && op.answeredIn != life ? 1 : 0;
          transacted += op.kind == WriteKind.TRANSACTION && op.answeredIn != life ? 1 : 0;
          counted += op.kind == WriteKind.INCREMENT && op.answeredIn != life ? 1 : 0;
          check(op.answer.equals(answer), op + " first=" + op.answer + " then=" + answer);
        }
        checkAnswer(op);
        if (op.kind == WriteKind.COMPARE_AND_SET && !write.applied()) {
          check(
              write.entry() == null || write.entry().getVersion() == write.detail(),
              op + " entry=" + write.entry());
          check(write.entry() != null || write.isValueGone() == (write.detail() != 0), op);
        }
        clients.forEach(client -> client.incomplete.remove(op));
      }
      case Write.OUTCOME_GONE -> toldGone(op);
      case Write.LOG_FULL ->
          check(server.journal().obstacle() != null, op + " refused without a reason");
      case Write.UNAVAILABLE, Write.UNKNOWN, Write.QUEUE_FULL -> {}
      default -> throw new AssertionError(op + " outcome=" + write.outcome());
    }
  }

  private static String text(Transaction transaction) {
    return transaction.isRefused()
        ? " refused=" + transaction.detail()
        : " " + transaction.response();
  }

  private void end(boolean isCrash) throws IOException {
    failures += server.journal().isFailed() ? 1 : 0;
    if (!isCrash && !server.journal().isFailed() && random.nextInt(4) == 0) {
      disk.full(false);
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      server.close();
      endedInOrder = true;
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

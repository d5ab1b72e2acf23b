package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.ServerProcess;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.linearizability.KillEpoch.Seen;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.JournalDescription;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A server process that is killed again and again under a mixed load, and started again on its
 * data: indexes of each kind and of each durability, snapshots meanwhile, writes that are repeated
 * across the restarts. What clients saw is checked by {@link KillChecks}; besides, after each start
 * all that does not change any more is compared with what was there before.
 */
final class KillRun implements AutoCloseable {
  private static final int CLIENTS = 6;
  private static final int KILLS_OF_AN_EPOCH = 4;
  private static final long MEGABYTE = 1 << 20;

  /** What a busy machine adds to the interval: threads that do not run at once. */
  private static final long SLACK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** A thread that writes, reads or takes snapshots. */
  private interface Work {
    void run() throws Exception;
  }

  /** What was read of a key that is not written any more. */
  private record Settled(KilledIndex index, ByteString key, Entry entry) {}

  private final Path shm;
  private final Path data;
  private final Random random;
  private final KillCounts counts = new KillCounts();
  private final KillGate gate = new KillGate();
  private final List<KilledIndex> indexes = new ArrayList<>();
  private final List<KillBallast> ballast = new ArrayList<>();
  private final List<KillChecks.Span> spans = new ArrayList<>();
  private final List<Settled> settled = new ArrayList<>();
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private final ExecutorService checks = Executors.newSingleThreadExecutor();
  private final List<Future<?>> checked = new ArrayList<>();
  private KillPlaces places;
  private ServerProcess server;
  private int port;
  private RingChannel ring;
  private ManagedChannel grpc;
  private volatile boolean ended;
  private KillEpoch epoch; // guarded by this
  private int epochs;
  private long beginNs;

  KillRun(Path shm, Path data, long seed) {
    this.shm = shm;
    this.data = data;
    random = new Random(seed);
    for (final Durability durability :
        List.of(Durability.MEMORY, Durability.INTERVAL, Durability.DISK)) {
      for (final IndexKind kind : List.of(IndexKind.HASH, IndexKind.ORDERED)) {
        indexes.add(new KilledIndex(durability.name() + "-" + kind.name(), kind, durability));
      }
    }
  }

  /** Kills so often, and checks; returns the counts. */
  KillCounts run(int kills) throws Exception {
    epoch = new KillEpoch(0, 0);
    start();
    ring = SurvivorMain.ring(port, shm);
    grpc = ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    createBallast();
    createPlaces();
    prepare();
    gate.open();
    startThreads();
    while (counts.kills < kills && failures.isEmpty()) {
      awaitMoment();
      kill();
      while (counts.kills < kills && random.nextInt(7) == 0) {
        start(random.nextInt(1200));
        counts.killsInStarts++;
        endLife();
      }
      start();
      prepare();
      gate.open();
      if (counts.kills % KILLS_OF_AN_EPOCH == 0) {
        endEpoch();
      }
    }
    Thread.sleep(300);
    endEpoch();
    ended = true;
    for (final Thread thread : threads) {
      thread.join(TimeUnit.SECONDS.toMillis(200));
      if (thread.isAlive()) {
        failures.add(new AssertionError("it still waits: " + thread));
      }
    }
    checkFailures();
    for (final Future<?> check : checked) {
      check.get();
    }
    compare();
    places.check(stub(), new Random(gate.life()));
    for (final KilledIndex index : indexes) {
      KillCounter.checkAccounts(
          read(
                  index,
                  IntStream.range(0, KillCounter.ACCOUNTS).mapToObj(KillCounter::account).toList())
              .stream()
              .map(GetResponse::getEntry)
              .toList());
      if (index.durability() == Durability.DISK) {
        final Entry counter = read(index, List.of(KillCounter.KEY)).get(0).getEntry();
        counts.counted +=
            counter.getVersion() == 0
                ? index.counter().check(0)
                : index.counter().check(CounterDescriptor.number(counter.getValue()));
      }
    }
    return counts;
  }

  private void checkFailures() {
    if (!failures.isEmpty()) {
      final AssertionError error = new AssertionError("failures=" + failures.size());
      failures.forEach(error::addSuppressed);
      throw error;
    }
  }

  // Lives of the server

  private void start() throws Exception {
    beginNs = System.nanoTime();
    server = process();
    port = server.awaitPort();
    counts.longestStartMs =
        Math.max(counts.longestStartMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs));
  }

  /** Starts a server, and kills it so much later. */
  private void start(int ms) throws Exception {
    beginNs = System.nanoTime();
    server = process();
    Thread.sleep(ms);
    server.close();
    final int unused = server.awaitExit();
  }

  private ServerProcess process() throws IOException {
    return ServerProcess.start(
        "--port=" + port,
        "--shm-directory=" + shm,
        "--data=" + data,
        "--durability=disk",
        "--memory=64m",
        "--snapshot-after=1M");
  }

  /** A kill comes at random, or in the middle of a snapshot. */
  private void awaitMoment() throws Exception {
    Thread.sleep(150 + random.nextInt(1200));
    if (random.nextInt(4) == 0) {
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
      while (!isTakingSnapshot() && System.nanoTime() < endNs) {
        Thread.onSpinWait();
      }
      Thread.sleep(random.nextInt(4));
    }
  }

  private boolean isTakingSnapshot() throws IOException {
    return files("snapshot-").stream().anyMatch(file -> file.toString().endsWith(".tmp"));
  }

  private void kill() throws Exception {
    final long askedNs = System.nanoTime();
    final JournalDescription journal = describe();
    final long lossNs = SLACK_NS + journal.getLongestSyncNs() + journal.getWaitingNs();
    server.close(); // SIGKILL
    final int exit = server.awaitExit();
    if (exit != 128 + 9) {
      throw new AssertionError("exit=" + exit);
    }
    final long endNs = System.nanoTime(); // not before: it answers until it is dead
    spans.add(new KillChecks.Span(gate.life(), beginNs, endNs, lossNs + endNs - askedNs));
    counts.killsInSnapshots += isTakingSnapshot() ? 1 : 0;
    endLife();
    checkDisk();
  }

  private void endLife() throws InterruptedException {
    counts.kills++;
    gate.nextLife();
  }

  private JournalDescription describe() {
    return admin().describeServer(DescribeServerRequest.getDefaultInstance()).getJournal();
  }

  private IndexAdminGrpc.IndexAdminBlockingStub admin() {
    grpc.resetConnectBackoff();
    return IndexAdminGrpc.newBlockingStub(grpc)
        .withWaitForReady()
        .withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  private IndexGrpc.IndexBlockingStub stub() {
    grpc.resetConnectBackoff();
    return IndexGrpc.newBlockingStub(grpc)
        .withWaitForReady()
        .withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  /** Between a start and the first operation on indexes that can lose something. */
  private void prepare() throws InterruptedException {
    final JournalDescription journal = describe();
    if (gate.life() > 0) {
      counts.startsFromSnapshots += journal.getSnapshot() != 0 ? 1 : 0;
      counts.startsFromTheJournal += journal.getSnapshot() == 0 ? 1 : 0;
    }
    for (final KilledIndex index : indexes) {
      final long incarnation =
          admin()
              .createIndex(
                  CreateIndexRequest.newBuilder()
                      .setIndex(index.name())
                      .setKind(index.kind())
                      .setDurability(index.durability())
                      .build())
              .getIncarnation();
      final long version =
          stub()
              .put(
                  PutRequest.newBuilder()
                      .setIndex(index.name())
                      .setKey(ByteString.copyFromUtf8("version"))
                      .build())
              .getVersion();
      index.live(gate.life(), incarnation, version);
      if (index.durability() != Durability.MEMORY) {
        readBase(index);
      }
    }
    compare();
    for (final KillBallast part : ballast) {
      part.check(stub());
    }
    places.check(stub(), new Random(gate.life()));
  }

  private void readBase(KilledIndex index) {
    final KillEpoch present;
    synchronized (this) {
      present = epoch;
    }
    final List<ByteString> keys =
        IntStream.range(0, KillEpoch.KEYS).mapToObj(present::key).toList();
    final long invokedNs = System.nanoTime();
    final List<GetResponse> found = read(index, keys);
    final long answeredNs = System.nanoTime();
    for (int key = 0; key < KillEpoch.KEYS; key++) {
      final Operation read =
          new Operation(
              key,
              Call.read(Call.Kind.BATCH_GET),
              answer(found.get(key)),
              false,
              invokedNs,
              answeredNs);
      present.add(index, new Seen(read, gate.life(), gate.life(), true));
    }
  }

  private static Answer answer(GetResponse found) {
    return found.hasEntry()
        ? new Answer(
            true,
            found.getEntry().getVersion(),
            Values.number(found.getEntry().getValue()),
            found.getIncarnation())
        : new Answer(false, 0, 0, found.getIncarnation());
  }

  private List<GetResponse> read(KilledIndex index, List<ByteString> keys) {
    final BatchGetResponse response =
        stub()
            .batchGet(BatchGetRequest.newBuilder().setIndex(index.name()).addAllKeys(keys).build());
    return response.getAnswersList().stream()
        .map(found -> found.toBuilder().setIncarnation(response.getIncarnation()).build())
        .toList();
  }

  /** Compares the keys of earlier epochs with what was there at their end. */
  private void compare() {
    final Map<String, List<Settled>> byIndex = new TreeMap<>();
    settled.forEach(
        one -> byIndex.computeIfAbsent(one.index.name(), name -> new ArrayList<>()).add(one));
    for (final List<Settled> ofOne : byIndex.values()) {
      final List<GetResponse> found =
          read(ofOne.get(0).index, ofOne.stream().map(Settled::key).toList());
      for (int i = 0; i < ofOne.size(); i++) {
        counts.entriesCompared.incrementAndGet();
        if (!found.get(i).getEntry().equals(ofOne.get(i).entry)) {
          throw new AssertionError(
              "life=" + gate.life() + " before: " + ofOne.get(i) + " now: " + found.get(i));
        }
      }
    }
  }

  // Epochs

  private synchronized KillEpoch enterEpoch() {
    epoch.enter();
    return epoch;
  }

  /** Has clients meet on other keys, and checks the history of these. */
  private void endEpoch() throws Exception {
    final KillEpoch past;
    synchronized (this) {
      past = epoch;
      epochs++;
      epoch = new KillEpoch(epochs, gate.life());
    }
    past.awaitEnd();
    final long leftNs = past.lastDeadlineNs() - System.nanoTime();
    TimeUnit.NANOSECONDS.sleep(Math.max(0, leftNs) + TimeUnit.MILLISECONDS.toNanos(100));
    final long nowNs = System.nanoTime();
    final List<KillChecks.Span> lived = new ArrayList<>(spans);
    lived.add(new KillChecks.Span(gate.life(), beginNs, Long.MAX_VALUE, 0));
    lived.removeIf(span -> span.number() < past.firstLife());
    for (final KilledIndex index : indexes) {
      readEnd(past, index);
      final List<Seen> history = past.history(index);
      checked.add(checks.submit(() -> check(index, lived, history)));
    }
    if (System.nanoTime() - nowNs > TimeUnit.SECONDS.toNanos(60)) {
      throw new AssertionError("the end of an epoch took too long");
    }
  }

  private void check(KilledIndex index, List<KillChecks.Span> lived, List<Seen> history) {
    try {
      final Optional<String> violation = new KillChecks(index, lived, counts).violation(history);
      violation.ifPresent(text -> failures.add(new AssertionError(text)));
    } catch (RuntimeException | Error e) {
      failures.add(e);
    }
  }

  private void readEnd(KillEpoch past, KilledIndex index) throws InterruptedException {
    for (int key = 0; key < KillEpoch.KEYS; key++) {
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (true) {
        final long invokedNs = System.nanoTime();
        final GetResponse found = read(index, List.of(past.key(key))).get(0);
        final Operation read =
            new Operation(
                key, Call.read(Call.Kind.GET), answer(found), false, invokedNs, System.nanoTime());
        past.add(index, new Seen(read, gate.life(), gate.life(), false));
        if (found.getEntry().getDeadlineMs() == 0) { // else its end is a tick away
          if (index.durability() != Durability.MEMORY) {
            settled.add(new Settled(index, past.key(key), found.getEntry()));
          }
          break;
        }
        if (System.nanoTime() > endNs) {
          throw new AssertionError("an entry does not end: " + index + " " + found);
        }
        Thread.sleep(5);
      }
    }
  }

  // Threads

  private List<Route> routes() {
    return List.of(new Route(ring, true), new Route(grpc, false));
  }

  private void createBallast() {
    for (final IndexKind kind : List.of(IndexKind.HASH, IndexKind.ORDERED)) {
      final KilledIndex index = new KilledIndex("ballast-" + kind, kind, Durability.DISK);
      final var created =
          admin()
              .createIndex(
                  CreateIndexRequest.newBuilder()
                      .setIndex(index.name())
                      .setKind(kind)
                      .setDurability(Durability.DISK)
                      .build());
      index.live(0, created.getIncarnation(), 0);
      final Random own = new Random(random.nextLong());
      ballast.add(
          new KillBallast(index, new NumberedCalls(gate, counts, routes(), own), own, counts));
    }
  }

  /** Of a spatial index, which loses nothing that was answered. */
  private void createPlaces() {
    final KilledIndex index = new KilledIndex("places", IndexKind.SPATIAL, Durability.DISK);
    final var created =
        admin()
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex(index.name())
                    .setKind(index.kind())
                    .setDurability(index.durability())
                    .build());
    index.live(0, created.getIncarnation(), 0);
    final Random own = new Random(random.nextLong());
    places = new KillPlaces(index, new NumberedCalls(gate, counts, routes(), own), own, counts);
  }

  private void startThreads() {
    for (int id = 1; id <= CLIENTS; id++) {
      final KillClient client =
          new KillClient(id, new Random(random.nextLong()), indexes, gate, counts, routes());
      start("client " + id, () -> client.run(this::enterEpoch, () -> ended));
    }
    for (final KillBallast part : ballast) {
      start(part.index().name(), () -> part.run(() -> ended));
    }
    start("places", () -> places.run(() -> ended));
    final Random own = new Random(random.nextLong());
    start("snapshots", () -> takeSnapshots(own));
  }

  private void start(String name, Work work) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Throwable t) {
                failures.add(new AssertionError(name, t));
              }
            },
            name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void takeSnapshots(Random own) throws InterruptedException {
    while (!ended) {
      Thread.sleep(30 + own.nextInt(500));
      try {
        final var unused =
            IndexAdminGrpc.newBlockingStub(grpc)
                .withDeadlineAfter(60, TimeUnit.SECONDS)
                .snapshot(SnapshotRequest.getDefaultInstance());
        counts.snapshots.incrementAndGet();
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() != Status.Code.UNAVAILABLE
            && e.getStatus().getCode() != Status.Code.UNKNOWN) {
          throw e;
        }
      }
    }
  }

  // Files

  private List<Path> files(String prefix) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      return files.filter(file -> file.getFileName().toString().startsWith(prefix)).toList();
    }
  }

  private void checkDisk() throws IOException {
    long used = 0;
    long snapshot = 0;
    for (final Path file : files("")) {
      used += Files.size(file);
      if (file.getFileName().toString().startsWith("snapshot-")) {
        snapshot = Math.max(snapshot, Files.size(file));
      }
    }
    final long limit = 3 * snapshot + 2 * (MEGABYTE + 16 * MEGABYTE) + 3 * 32 * MEGABYTE;
    if (used > limit) {
      throw new AssertionError("the disk fills: used=" + used + " limit=" + limit);
    }
  }

  @Override
  public void close() {
    ended = true;
    checks.shutdownNow();
    threads.forEach(Thread::interrupt);
    if (ring != null) {
      ring.shutdownNow();
    }
    if (grpc != null) {
      grpc.shutdownNow();
    }
    if (server != null) {
      server.close();
    }
  }
}

package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The programs of docs/recipes.md and docs/transactions.md. */
@SuppressWarnings("FutureReturnValueIgnored") // a program has nothing to do with it
final class Recipes {
  private final IndexClient client;
  private boolean stopped;

  Recipes(IndexClient client) {
    this.client = client;
  }

  /** Work under a lock. */
  interface Job {
    void run(long fence);

    void stop();
  }

  Optional<byte[]> session(String id, byte[] value) {
    HashIndex<String, byte[]> sessions = client.hash("sessions", Codec.string(), Codec.bytes());
    Duration idle = Duration.ofMinutes(30);
    sessions.put(id, value, idle);
    Optional<byte[]> session = sessions.get(id);
    sessions.touch(id, idle);
    sessions.remove(id);
    return session;
  }

  /** A session as JSON. */
  record Session(String user, List<String> rights) {}

  Session jsonSession(String id) {
    HashIndex<String, Session> sessions =
        client.hash("sessions as JSON", Codec.string(), Codec.json(Session.class));
    sessions.put(id, new Session("ada", List.of("read")));
    return sessions.get(id).orElseThrow();
  }

  boolean pay() {
    HashIndex<String, Long> accounts = client.hash("accounts", Codec.string(), Codec.int64());

    TransactionResult<String, Long> paid =
        accounts
            .transaction()
            .when(c -> c.valueGreater("{shop}.ada", 99L))
            .then(t -> t.increment("{shop}.ada", -100).increment("{shop}.bob", 100))
            .otherwise(t -> t.get("{shop}.ada"))
            .commit();
    if (!paid.succeeded()) {
      System.out.println("ada has only " + paid.value(0));
    }
    return paid.succeeded();
  }

  /** Whether a user may make another call; counts it, and a visit. */
  boolean count(String user, long limit) {
    HashIndex<String, Long> counts = client.hash("counts", Codec.string(), Codec.int64());
    long visits = counts.increment("visits", 1);
    long calls = counts.increment("calls of " + user, 1, Duration.ofMinutes(1));
    boolean allowed = calls <= limit;
    return allowed && visits > 0;
  }

  void lock(Job job) {
    Optional<LockHold> acquired = client.lock("printer").acquire(Duration.ofMinutes(1));
    if (acquired.isPresent()) {
      try (LockHold hold = acquired.get()) {
        hold.lost().thenRun(job::stop);
        job.run(hold.fence());
      }
    }
  }

  void write(HashIndex<String, Long> work, LockHold hold) {
    work.update(
        "page",
        last -> {
          if (last.orElse(0L) > hold.fence()) {
            throw new IllegalStateException("another holder has written");
          }
          return hold.fence();
        });
  }

  void elect(String address) {
    IndexLock leadership = client.lock("leader of billing").holder(address);
    while (!stopped) {
      Optional<LockHold> elected = leadership.acquire(Duration.ofMinutes(1));
      if (elected.isPresent()) {
        try (LockHold term = elected.get()) {
          lead(term);
        }
      }
    }
  }

  private void lead(LockHold term) {
    write(client.hash("work", Codec.string(), Codec.int64()), term);
    stopped = true;
  }

  private boolean running = true;
  private ByteString handled = ByteString.EMPTY;

  /** Appends a record, and reads until it comes; returns it. */
  String topic() {
    Topics topics = client.topics();
    topics.create("orders", TopicOptions.partitions(4).retention(Duration.ofDays(7)));

    TopicLog log = topics.log("orders", 0);
    List<Long> offsets = log.append(List.of(ByteString.copyFromUtf8("an order"))).join().offsets();

    long next = offsets.get(0);
    while (running) {
      List<TopicRecord> records = log.read(next, 1_000, 1 << 20);
      for (TopicRecord record : records) {
        handle(record.value());
        next = record.offset() + 1;
      }
      if (records.isEmpty()) {
        log.await(next, Duration.ofSeconds(10));
      }
    }
    return handled.toStringUtf8();
  }

  private void handle(ByteString value) {
    handled = value;
    running = false;
  }
}

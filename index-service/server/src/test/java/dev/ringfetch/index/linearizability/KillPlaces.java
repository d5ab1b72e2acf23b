package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.Neighbor;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.SearchRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The spatial index of a {@link KillRun}: one thread writes, moves and removes its entries, so that
 * it knows exactly what has to be there. After each start every entry is found by id and by
 * searches, at its last place alone; those of a write under way may be at the place before.
 */
final class KillPlaces {
  private static final int IDS = 1500;
  private static final int BATCH = 30;
  private static final int SEARCHES = 60;
  private static final int NEAREST = 10;
  private static final double SIDE = 100;
  private static final int PAUSE_NS = 20_000_000;

  /** An entry as it was written; the number is in its value. */
  private record Place(long number, Box box) {
    ByteString value() {
      return BoxDescriptor.bytes(box.getMinX(), box.getMinY(), box.getMaxX(), box.getMaxY())
          .concat(ByteString.copyFromUtf8((number + ";").repeat(5)));
    }

    boolean intersects(Box other) {
      return box.getMinX() <= other.getMaxX()
          && box.getMaxX() >= other.getMinX()
          && box.getMinY() <= other.getMaxY()
          && box.getMaxY() >= other.getMinY();
    }

    double distance(Point from) {
      return Math.hypot(
          Math.max(0, Math.max(box.getMinX() - from.getX(), from.getX() - box.getMaxX())),
          Math.max(0, Math.max(box.getMinY() - from.getY(), from.getY() - box.getMaxY())));
    }
  }

  private final KilledIndex index;
  private final NumberedCalls calls;
  private final Random random;
  private final KillCounts counts;
  private final Place[] places = new Place[IDS]; // guarded by this; null: absent
  private final Map<Integer, Place> busy = new HashMap<>(); // guarded by this; null: removed
  private boolean isChecking; // guarded by this
  private long number;

  KillPlaces(KilledIndex index, NumberedCalls calls, Random random, KillCounts counts) {
    this.index = index;
    this.calls = calls;
    this.random = random;
    this.counts = counts;
  }

  private static ByteString key(int id) {
    return ByteString.copyFromUtf8(String.format("place %05d", id));
  }

  private static int id(ByteString key) {
    return Integer.parseInt(key.toStringUtf8().substring("place ".length()));
  }

  /** Anywhere, in a crowd, or on a diagonal; a point, or a box. */
  private static Box box(Random random) {
    final double x;
    final double y;
    switch (random.nextInt(3)) {
      case 0 -> {
        x = random.nextDouble() * SIDE;
        y = random.nextDouble() * SIDE;
      }
      case 1 -> {
        x = 30 + random.nextInt(4);
        y = 30 + random.nextInt(4);
      }
      default -> {
        x = random.nextDouble() * SIDE;
        y = x;
      }
    }
    final double edge = random.nextBoolean() ? 0 : random.nextDouble() * 3;
    return box(x, y, x + edge, y + edge);
  }

  private static Box box(double minX, double minY, double maxX, double maxY) {
    return Box.newBuilder().setMinX(minX).setMinY(minY).setMaxX(maxX).setMaxY(maxY).build();
  }

  private static Point point(Random random) {
    final Box box = box(random);
    return Point.newBuilder().setX(box.getMinX()).setY(box.getMaxY()).build();
  }

  /** Writes until told to end. */
  void run(BooleanSupplier ended) throws InterruptedException {
    while (!ended.getAsBoolean()) {
      final int first = random.nextInt(IDS - BATCH);
      if (random.nextInt(4) == 0) {
        remove(first);
      } else {
        put(first);
      }
      LockSupport.parkNanos(1 + random.nextInt(PAUSE_NS));
    }
  }

  private synchronized void begin(Map<Integer, Place> writes) throws InterruptedException {
    while (isChecking) {
      wait();
    }
    busy.putAll(writes);
  }

  private void put(int first) throws InterruptedException {
    final Map<Integer, Place> writes = new HashMap<>();
    final BatchPutRequest.Builder request = BatchPutRequest.newBuilder().setIndex(index.name());
    for (int id = first; id < first + BATCH; id++) {
      final Place place = new Place(++number, box(random));
      writes.put(id, place);
      request.addEntriesBuilder().setKey(key(id)).setValue(place.value());
    }
    begin(writes);
    final BatchPutResponse response =
        calls.write(
            index, IndexGrpc.getBatchPutMethod(), named -> request.setNumber(named).build(), BATCH);
    synchronized (this) {
      for (int i = 0; i < BATCH; i++) {
        final PutOutcome outcome = response.getOutcomes(i);
        if (outcome.getCode() != 0 || outcome.getCreated() != (places[first + i] == null)) {
          throw new AssertionError(
              "id=" + (first + i) + " before=" + places[first + i] + " answer=" + outcome);
        }
      }
      writes.forEach((id, place) -> places[id] = place);
      busy.clear();
    }
  }

  private void remove(int id) throws InterruptedException {
    final Map<Integer, Place> writes = new HashMap<>();
    writes.put(id, null);
    final DeleteRequest.Builder request =
        DeleteRequest.newBuilder().setIndex(index.name()).setKey(key(id));
    begin(writes);
    final DeleteResponse response =
        calls.write(
            index, IndexGrpc.getDeleteMethod(), named -> request.setNumber(named).build(), 1);
    synchronized (this) {
      if (response.getExisted() != (places[id] != null)) {
        throw new AssertionError("id=" + id + " before=" + places[id] + " answer=" + response);
      }
      places[id] = null;
      busy.clear();
    }
  }

  /** Compares what is found with what was answered. The write under way may end meanwhile. */
  void check(IndexGrpc.IndexBlockingStub stub, Random drawn) {
    final Place[] before;
    final Map<Integer, Place> changing;
    synchronized (this) {
      isChecking = true;
      before = places.clone();
      changing = new HashMap<>(busy);
    }
    try {
      checkIds(stub, before, changing);
      checkSearch(stub, box(-1, -1, 2 * SIDE, 2 * SIDE), before, changing);
      for (int i = 0; i < SEARCHES; i++) {
        final Place one = before[drawn.nextInt(IDS)];
        checkSearch(
            stub, one == null || drawn.nextBoolean() ? box(drawn) : one.box, before, changing);
        checkNearest(stub, point(drawn), before, changing);
      }
    } finally {
      synchronized (this) {
        isChecking = false;
        notifyAll();
      }
    }
  }

  private void checkIds(
      IndexGrpc.IndexBlockingStub stub, Place[] before, Map<Integer, Place> changing) {
    final BatchGetRequest.Builder request = BatchGetRequest.newBuilder().setIndex(index.name());
    for (int id = 0; id < IDS; id++) {
      request.addKeys(key(id));
    }
    final List<GetResponse> answers = stub.batchGet(request.build()).getAnswersList();
    for (int id = 0; id < IDS; id++) {
      final ByteString value =
          answers.get(id).hasEntry() ? answers.get(id).getEntry().getValue() : null;
      checkValue("by id", id, value, before, changing);
    }
  }

  /** Checks what was found of an id; null: nothing. */
  private void checkValue(
      String how, int id, ByteString value, Place[] before, Map<Integer, Place> changing) {
    counts.entriesCompared.incrementAndGet();
    if (!is(before[id], value) && !(changing.containsKey(id) && is(changing.get(id), value))) {
      throw new AssertionError(
          String.format(
              "%s: id=%d answered=%s under way=%s found=%s",
              how,
              id,
              before[id],
              changing.containsKey(id) ? changing.get(id) : "nothing",
              value == null ? null : value.substring(BoxDescriptor.LENGTH).toStringUtf8()));
    }
  }

  private static boolean is(Place place, ByteString value) {
    return place == null ? value == null : place.value().equals(value);
  }

  private void checkSearch(
      IndexGrpc.IndexBlockingStub stub, Box box, Place[] before, Map<Integer, Place> changing) {
    final Map<Integer, ByteString> found = new HashMap<>();
    final SearchRequest request =
        SearchRequest.newBuilder().setIndex(index.name()).setIntersects(box).build();
    stub.search(request)
        .forEachRemaining(
            page -> {
              for (final Entry entry : page.getEntriesList()) {
                if (found.put(id(entry.getKey()), entry.getValue()) != null) {
                  throw new AssertionError("twice: " + entry + " " + box);
                }
              }
            });
    found.forEach((id, value) -> checkValue("by search", id, value, before, changing));
    for (int id = 0; id < IDS; id++) {
      final boolean was = before[id] != null && before[id].intersects(box);
      final Place later = changing.containsKey(id) ? changing.get(id) : before[id];
      final boolean isLater = later != null && later.intersects(box);
      if (found.containsKey(id) ? !was && !isLater : was && isLater) {
        throw new AssertionError(
            "id="
                + id
                + " answered="
                + before[id]
                + " under way="
                + later
                + " found="
                + found.containsKey(id)
                + " in "
                + box);
      }
    }
  }

  /** What is not under way and nearer than the last one that was found has to be among them. */
  private void checkNearest(
      IndexGrpc.IndexBlockingStub stub, Point from, Place[] before, Map<Integer, Place> changing) {
    final NearestRequest.Builder request =
        NearestRequest.newBuilder().setIndex(index.name()).setLimit(NEAREST).setPoint(from);
    final List<Neighbor> found = stub.nearest(request.build()).getNeighborsList();
    final TreeSet<Integer> ids = new TreeSet<>();
    for (final Neighbor neighbor : found) {
      final Entry entry = neighbor.getEntry();
      if (!ids.add(id(entry.getKey()))) {
        throw new AssertionError("twice among the nearest: " + neighbor);
      }
      checkValue("among the nearest", id(entry.getKey()), entry.getValue(), before, changing);
    }
    final double last =
        found.size() < NEAREST ? Double.MAX_VALUE : found.get(NEAREST - 1).getDistance();
    for (int id = 0; id < IDS; id++) {
      if (before[id] != null
          && !changing.containsKey(id)
          && !ids.contains(id)
          && before[id].distance(from) + 1e-9 < last) {
        throw new AssertionError("nearer than " + found + ": id=" + id + " " + before[id]);
      }
    }
  }
}

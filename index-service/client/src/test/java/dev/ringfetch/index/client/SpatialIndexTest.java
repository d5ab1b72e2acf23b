package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A view of a spatial index finds what a look at all entries finds. */
@Timeout(120)
class SpatialIndexTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 40);

  @TempDir Path directory;
  private final Random random = new Random(SEED);
  private final UnreliableWrites writes = new UnreliableWrites();
  private ManagedChannel channel;
  TestServer server;
  IndexClient client;
  SpatialIndex<String, Long> places;

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    channel = server.channel(writes);
    client = connect(server);
    places = view(client.spatial("places", Codec.string(), Codec.int64()));
  }

  IndexClient connect(TestServer to) {
    return to.connect();
  }

  /** The view that is tested. */
  SpatialIndex<String, Long> view(SpatialIndex<String, Long> plain) {
    return plain;
  }

  @AfterEach
  void stop() {
    client.close();
    channel.shutdownNow();
    server.close();
  }

  static Map<String, Long> values(List<IndexEntry<String, Located<Long>>> entries) {
    final Map<String, Long> values = new HashMap<>();
    for (final IndexEntry<String, Located<Long>> entry : entries) {
      assertEquals(null, values.put(entry.key(), entry.value().value()));
    }
    return values;
  }

  private Box next() {
    final double x = random.nextGaussian() * 10;
    final double y = random.nextGaussian() * 10;
    return new Box(x, y, x + random.nextDouble(), y + random.nextDouble());
  }

  @Test
  void findsWhatALookAtAllFinds() throws Exception {
    final Map<String, Located<Long>> model = new HashMap<>();
    for (long i = 0; i < 3000; i++) {
      final String id = "p" + random.nextInt(500);
      if (random.nextInt(5) == 0) {
        assertEquals(model.remove(id) != null, places.remove(id));
      } else {
        final Box box = next();
        if (random.nextBoolean()) {
          places.put(id, box, i);
        } else {
          places.async().put(id, box, i).get();
        }
        model.put(id, new Located<>(box, i));
      }
      if (i % 100 == 0) {
        check(model);
      }
    }
    assertEquals(model.size(), places.count());
    assertEquals(model, places.getAll(model.keySet()));
  }

  private void check(Map<String, Located<Long>> model) throws Exception {
    final Box box = next();
    final Point point = new Point(box.minX(), box.minY());
    final Map<String, Long> intersecting = new HashMap<>();
    final Map<String, Long> within = new HashMap<>();
    final Map<String, Long> containing = new HashMap<>();
    final Box wide = Box.around(point, 5);
    model.forEach(
        (id, located) -> {
          if (wide.intersects(located.box())) {
            intersecting.put(id, located.value());
          }
          if (wide.encloses(located.box())) {
            within.put(id, located.value());
          }
          if (located.box().contains(point)) {
            containing.put(id, located.value());
          }
        });
    assertEquals(intersecting, values(places.intersecting(wide).toList()));
    assertEquals(within, values(places.within(wide).toList()));
    assertEquals(containing, values(places.containing(point).toList()));
    assertEquals(intersecting.size(), places.count(wide));
    assertEquals(intersecting.size(), places.async().count(wide).get());
    final List<IndexEntry<String, Located<Long>>> found = new ArrayList<>();
    assertEquals(within.size(), places.async().forEach(places.within(wide), found::add).get());
    assertEquals(within, values(found));
    final List<Double> distances =
        model.values().stream()
            .map(located -> distance(located.box(), point))
            .sorted(Comparator.naturalOrder())
            .limit(7)
            .toList();
    assertEquals(distances, distances(places.nearest(point, 7)));
    assertEquals(
        distances.stream().filter(distance -> distance <= 2).toList(),
        distances(places.async().nearest(point, 7, 2).get()));
    final Filter late = Field.located().counter(0).atLeast(1_000L);
    final List<Double> lateOnes =
        model.values().stream()
            .filter(located -> located.value() >= 1_000)
            .map(located -> distance(located.box(), point))
            .filter(distance -> distance <= 9)
            .sorted()
            .limit(7)
            .toList();
    assertEquals(lateOnes, distances(places.nearest(point, 7, 9, late)));
    assertEquals(lateOnes, distances(places.async().nearest(point, 7, 9, late).get()));
  }

  private static List<Double> distances(List<Neighbor<String, Long>> neighbors) {
    return neighbors.stream().map(Neighbor::distance).toList();
  }

  private static double distance(Box box, Point point) {
    final double x = Math.max(0, Math.max(box.minX() - point.x(), point.x() - box.maxX()));
    final double y = Math.max(0, Math.max(box.minY() - point.y(), point.y() - box.maxY()));
    return Math.sqrt(x * x + y * y);
  }

  /** Entries that move within the box all the time are found, each once, by every search. */
  @Test
  void movingEntriesAreFoundOnce() throws Exception {
    final int entries = 2000;
    for (int i = 0; i < entries; i++) {
      places.put("m" + i, next(), (long) i);
    }
    final AtomicBoolean ending = new AtomicBoolean();
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    final List<Thread> movers = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      final Random steps = new Random(SEED + t);
      final Thread mover =
          new Thread(
              () -> {
                try {
                  while (!ending.get()) {
                    final int moved = steps.nextInt(entries);
                    places.put("m" + moved, Box.of(steps.nextGaussian() * 10, 0), (long) moved);
                  }
                } catch (RuntimeException | Error e) {
                  failure.set(e);
                }
              });
      mover.start();
      movers.add(mover);
    }
    final Box all = new Box(-1e6, -1e6, 1e6, 1e6);
    try {
      for (int i = 0; i < 100; i++) {
        final Map<String, Long> found = values(places.intersecting(all).toList());
        assertEquals(entries, found.size(), "seed=" + SEED + " search=" + i);
        final Set<String> near = new HashSet<>();
        places
            .nearest(new Point(0, 0), 50)
            .forEach(neighbor -> assertTrue(near.add(neighbor.entry().key())));
        assertEquals(50, near.size());
      }
    } finally {
      ending.set(true);
      for (final Thread mover : movers) {
        mover.join();
      }
    }
    assertEquals(null, failure.get());
  }

  @Test
  void distancesOnEarthAreMetres() {
    places.put("Bern", Box.of(7.4474, 46.948), 1L);
    places.put("Zurich", Box.of(8.5417, 47.3769), 2L);
    places.put("Geneva", Box.of(6.1432, 46.2044), 3L);
    final List<Neighbor<String, Long>> near =
        places.nearestOnEarth(new Point(7.4474, 46.948), 3, 130_000);
    assertEquals(
        List.of("Bern", "Zurich", "Geneva"),
        near.stream().map(neighbor -> neighbor.entry().key()).toList());
    assertEquals(0, near.get(0).distance());
    assertEquals(95_500, near.get(1).distance(), 1000); // along a great circle
    assertEquals(129_000, near.get(2).distance(), 1500);
    assertEquals(1, places.nearestOnEarth(new Point(7.4474, 46.948), 3, 90_000).size());
    final List<Neighbor<String, Long>> others =
        places.nearestOnEarth(
            new Point(7.4474, 46.948), 1, 130_000, Field.located().counter(0).isNot(1L));
    assertEquals(List.of("Zurich"), others.stream().map(other -> other.entry().key()).toList());
    assertThrows(
        IllegalArgumentException.class, () -> places.nearestOnEarth(new Point(0, 90), 1, 1));
  }

  @Test
  void aWriteWhoseAnswerIsLostMovesOnce() {
    final UnreliableWrites.Fate[] fates = {
      UnreliableWrites.Fate.SENT_TWICE,
      UnreliableWrites.Fate.ANSWER_LOST,
      UnreliableWrites.Fate.TWICE_AND_LOST
    };
    places.put("a", Box.of(0, 0), 0L);
    writes.fates = () -> fates[random.nextInt(fates.length)];
    try (IndexClient unreliable = server.builder(channel).build()) {
      move(unreliable.spatial("places", Codec.string(), Codec.int64()));
    }
  }

  private void move(SpatialIndex<String, Long> unreliable) {
    long before = 0;
    for (int i = 1; i < 50; i++) {
      final long version = unreliable.put("a", Box.of(i, i), (long) i);
      assertTrue(version > before);
      before = version;
      assertEquals(
          Map.of("a", (long) i), values(places.intersecting(new Box(0, 0, 99, 99)).toList()));
      assertEquals(version, places.getEntry("a").orElseThrow().version());
    }
  }

  /** Searches whose first page, of 4,000 entries, is not all. */
  @Test
  void aLongSearchIsOfOneIndexAndUpToItsLimit() {
    final Box all = new Box(0, 0, 9_999, 1);
    fill(5_000);
    assertEquals(4_001, values(places.intersecting(all).limit(4_001).toList()).size());
    assertEquals(5_000, values(places.intersecting(all).limit(9_999).toList()).size());
    for (final boolean isCreatedAgain : new boolean[] {true, false}) {
      final var found = places.intersecting(all).iterator();
      found.next();
      client.drop("places");
      if (isCreatedAgain) {
        fill(1);
      }
      final IndexException aborted =
          assertThrows(IndexException.class, () -> found.forEachRemaining(entry -> {}));
      assertEquals(Status.Code.ABORTED, aborted.code());
      fill(5_000);
    }
  }

  void fill(int entries) {
    final Map<String, Located<Long>> located = new HashMap<>();
    for (long i = 0; i < entries; i++) {
      located.put("p" + i, new Located<>(Box.of((double) i, 0), i));
    }
    places.putAll(located);
  }

  /** As one without SearchPage, in the middle of an upgrade. */
  @Test
  void anOlderServerSendsAllPages() {
    fill(1_500);
    final ClientInterceptor older =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            final boolean isOld = !method.getBareMethodName().equals("SearchPage");
            return next.newCall(
                isOld ? method : method.toBuilder().setFullMethodName("no/Such").build(), options);
          }
        };
    final ManagedChannel toOlder = server.channel(older);
    try (IndexClient other = server.builder(toOlder).build()) {
      final SpatialIndex<String, Long> of = other.spatial("places", Codec.string(), Codec.int64());
      assertEquals(1_500, values(of.intersecting(new Box(0, 0, 9_999, 1)).toList()).size());
    } finally {
      toOlder.shutdownNow();
    }
  }

  @Test
  void theIndexIsSpatialOrAnError() {
    assertEquals(List.of(), places.intersecting(Box.of(1, 1)).toList());
    assertEquals(0, places.count(Box.of(1, 1)));
    assertEquals(Optional.empty(), places.get("a"));
    client.create("hashed", IndexKind.HASH, Durability.DURABILITY_UNSPECIFIED);
    final SpatialIndex<String, Long> other =
        view(client.spatial("hashed", Codec.string(), Codec.int64()));
    for (final Runnable call :
        List.<Runnable>of(
            () -> other.put("a", Box.of(1, 1), 1L),
            () -> other.intersecting(Box.of(1, 1)).toList(),
            () -> other.nearest(new Point(1, 1), 1))) {
      final IndexException refused = assertThrows(IndexException.class, call::run);
      assertEquals(Status.Code.FAILED_PRECONDITION, refused.code());
    }
    assertThrows(IllegalArgumentException.class, () -> new Box(1, 0, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> Box.of(Double.NaN, 0));
    assertThrows(IllegalArgumentException.class, () -> new Point(0, 1.1e30));
  }
}

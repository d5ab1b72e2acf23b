package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A view of a spatial index whose reads and searches go directly. */
final class DirectSpatialIndexTest extends SpatialIndexTest {
  /** How often operations took each route. */
  private final Map<Access, Map<Operation, Integer>> routes = new ConcurrentHashMap<>();

  @Override
  IndexClient connect(TestServer to) {
    return to.builder()
        .metrics(
            (operation, index, route, code, durationNs) ->
                routes
                    .computeIfAbsent(route, unused -> new ConcurrentHashMap<>())
                    .merge(operation, 1, Integer::sum))
        .build();
  }

  @Override
  SpatialIndex<String, Long> view(SpatialIndex<String, Long> plain) {
    return plain.access(Access.DIRECT);
  }

  private Map<Operation, Integer> reads(Access route) {
    final Map<Operation, Integer> reads = new EnumMap<>(Operation.class);
    routes.getOrDefault(route, Map.of()).forEach(reads::put);
    reads.keySet().removeIf(Operation::isWriting);
    return reads;
  }

  @Test
  void readsAndSearchesMakeNoCalls() {
    fill(3_000);
    assertEquals(Access.DIRECT, places.access());
    final Box all = new Box(0, 0, 9_999, 1);
    assertEquals(3_000, values(places.intersecting(all).toList()).size());
    assertEquals(3_000, values(places.within(all).toList()).size());
    assertEquals(1_500, places.intersecting(all).limit(1_500).toList().size());
    assertEquals(Map.of("p7", 7L), values(places.containing(new Point(7, 0)).toList()));
    assertEquals(List.of(), places.intersecting(Box.of(-1, -1)).toList());
    assertEquals(1_000, places.nearest(new Point(0, 0), 1_000).size());
    final Filter last = Field.located().counter(0).is(2_999L);
    assertEquals(1, places.nearest(new Point(0, 0), 9, 1e9, last).size());
    assertEquals(7L, places.get("p7").orElseThrow().value());
    assertEquals(Optional.empty(), places.get("q"));
    assertEquals(2, places.getAll(List.of("p1", "p2", "q")).size());
    assertEquals(Map.of(), reads(Access.RPC));
    assertTrue(reads(Access.DIRECT).get(Operation.SEARCH) >= 8, routes::toString);
    assertEquals(2, reads(Access.DIRECT).get(Operation.GET));
    assertEquals(
        1,
        places
            .deadline(java.time.Duration.ofSeconds(9))
            .intersecting(Box.of(7, 0))
            .toList()
            .size());
    assertEquals(Map.of(), reads(Access.RPC));
    assertEquals(3_000, places.count(all));
    assertEquals(1, reads(Access.RPC).get(Operation.COUNT), "counts go by calls");
  }

  /** All readers are in use when the search asks for its second page. */
  @Test
  void searchThatHasBegunWaitsForAReader() throws Exception {
    fill(3_000);
    final Box all = new Box(0, 0, 9_999, 1);
    assertEquals(3_000, values(places.intersecting(all).toList()).size());
    final var found = places.intersecting(all).iterator();
    found.next();
    final OperationRun run =
        places.view().calls().begin(places.view().subject(Operation.SEARCH, null), 1_000_000_000L);
    final DirectRoute route = places.direct();
    final List<DirectReads.Reader> taken = new ArrayList<>();
    DirectReads.Reader reader;
    while ((reader = route.borrow(run, ReadKind.search(0))) != null) {
      taken.add(reader);
    }
    assertEquals(DirectReads.LIMIT, taken.size());
    final Thread giver =
        new Thread(
            () -> {
              LockSupport.parkNanos(15_000_000);
              taken.forEach(route::giveBack);
            });
    giver.start();
    int left = 0;
    while (found.hasNext()) {
      found.next();
      left++;
    }
    giver.join();
    assertEquals(2_999, left);
    assertEquals(Map.of(), reads(Access.RPC));
  }
}

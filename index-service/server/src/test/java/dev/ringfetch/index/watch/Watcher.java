package dev.ringfetch.index.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A watch in a {@link WatchModel}, and the checker of what it brings: no change twice, none out of
 * order, none before its commit, none missing. It can lose its connection, and go on from any of
 * its last tokens as a client does that has worked on no more than came before that.
 */
final class Watcher {
  /** What the watch had seen when it got a token. */
  private record Mark(ByteString token, int events) {}

  private record Event(int partition, WatchEvent event) {}

  private final WatchModel model;
  private final ByteString prefix;
  private final double edge; // of the square that is watched; negative: all places
  private final List<Event> events = new ArrayList<>();
  private final List<Mark> marks = new ArrayList<>();
  private long[] begin;
  private WatchCursor cursor;
  private EventBatch batch;
  private int goneCount;
  private int slowCount;

  Watcher(WatchModel model, ByteString prefix) {
    this(model, prefix, -1);
  }

  Watcher(WatchModel model, ByteString prefix, double edge) {
    this.model = model;
    this.prefix = prefix;
    this.edge = edge;
    beginNow();
  }

  int gone() {
    return goneCount;
  }

  int slow() {
    return slowCount;
  }

  int events() {
    return events.size();
  }

  /** Adds the numbers of changes that came, by what they mean for the box. */
  void count(Map<WatchEvent.Crossing, Integer> crossings) {
    events.forEach(event -> crossings.merge(event.event.getCrossing(), 1, Integer::sum));
  }

  private void beginNow() {
    model.begin();
    begin(model.last());
  }

  private void begin(long[] lsns) {
    begin = lsns;
    events.clear();
    marks.clear();
    connect(WatchToken.encode(model.incarnation(), lsns), 0);
  }

  private static long[] lsns(ByteString token) {
    final WatchToken decoded = WatchToken.decode(token);
    final long[] lsns = new long[decoded.partitions()];
    for (int i = 0; i < lsns.length; i++) {
      lsns[i] = decoded.lsn(i);
    }
    return lsns;
  }

  private void connect(ByteString token, int seen) {
    model.begin();
    while (events.size() > seen) {
      events.remove(events.size() - 1);
    }
    cursor = new WatchCursor(model, lsns(token));
    batch =
        new EventBatch(
            prefix,
            prefix.isEmpty() ? ByteString.EMPTY : prefix.concat(ByteString.copyFromUtf8("~")),
            edge < 0 ? null : SpatialQuery.intersecting(new double[] {0, 0, edge, edge}),
            null,
            false);
    assertEquals(token, cursor.token());
    marks.add(new Mark(token, seen));
  }

  /** Loses the connection, and goes on from one of the last tokens. */
  void reconnect() {
    final int back = model.random.nextInt(Math.min(4, marks.size()));
    final Mark mark = marks.get(marks.size() - 1 - back);
    marks.removeIf(other -> other.events > mark.events);
    connect(mark.token, mark.events);
  }

  /** Takes a step as the server does; returns whether there was nothing to do. */
  boolean step() throws IOException {
    if (model.random.nextInt(4) == 0 && cursor.isSlow()) { // the client is not ready
      fallBehind();
      return false;
    }
    final WatchCursor.State state = cursor.step(batch);
    if (!batch.isEmpty() || model.random.nextInt(10) == 0) {
      final WatchResponse response = batch.take(cursor.token(), model.incarnation());
      cursor.sent();
      response.getEventsList().forEach(this::take);
      marks.add(new Mark(response.getToken(), events.size()));
    }
    switch (state) {
      case SLOW -> fallBehind();
      case GONE -> loseHistory(cursor.oldest());
      default -> {
        // it goes on
      }
    }
    return state == WatchCursor.State.IDLE;
  }

  private void fallBehind() {
    slowCount++;
    final Mark last = marks.get(marks.size() - 1);
    connect(last.token, last.events);
  }

  private void loseHistory(ByteString oldest) {
    goneCount++;
    final long[] from = lsns(marks.get(marks.size() - 1).token);
    final long[] least = lsns(oldest);
    boolean justified = false;
    for (int i = 0; i < from.length; i++) {
      final long missing = model.journal() == null ? model.ring(i).floor() : model.removed[i];
      justified |= from[i] < missing;
      assertTrue(least[i] >= missing, "the oldest token is older than what there is");
    }
    assertTrue(justified, "gone, although nothing was removed behind the token");
    begin(least);
  }

  private void take(WatchEvent event) {
    final int partition = event.getKey().byteAt(event.getKey().size() - 1) - '0';
    final Change told = model.checkTold(partition, event.getVersion());
    assertEquals(told.kind(), event.getKind());
    assertEquals(told.key(), event.getKey());
    assertEquals(told.value(), event.getValue());
    assertEquals(told.created(), event.getCreated());
    if (edge >= 0) {
      assertEquals(model.crossing(partition, told, edge), event.getCrossing());
    }
    events.add(new Event(partition, event));
  }

  /** Checks all that came, after the watch has come to the end. */
  void check() {
    final long[] end = lsns(cursor.token());
    for (int i = 0; i < WatchModel.PARTITIONS; i++) {
      final int partition = i;
      final List<Long> seen =
          events.stream()
              .filter(event -> event.partition == partition)
              .map(event -> event.event.getVersion())
              .filter(lsn -> !model.lost.get(partition).containsKey(lsn))
              .toList();
      final TreeMap<Long, Change> all = model.committed.get(i);
      final List<Long> expected =
          all.tailMap(begin[i], false).values().stream()
              .filter(change -> change.key().startsWith(prefix))
              .filter(change -> edge < 0 || model.crossing(partition, change, edge) != null)
              .map(Change::version)
              .toList();
      assertEquals(expected, seen, "partition=" + i + " begin=" + begin[i]);
      assertTrue(all.isEmpty() || end[i] >= all.lastKey(), "the token is behind");
    }
  }
}

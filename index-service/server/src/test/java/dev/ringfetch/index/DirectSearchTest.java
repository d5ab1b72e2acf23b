package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.direct.DirectSink;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FieldComparison;
import dev.ringfetch.index.v1.Filter;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.Neighbor;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.ReleaseRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** Direct searches of a spatial index, of a server in this JVM. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class DirectSearchTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 76);
  private static final String INDEX = "places";

  /** Entries that a reader copies at a time, at most: 16 KiB of blocks of 48 B and more. */
  private static final int COPIED = 342;

  /** Length of the header of a file of shared memory. */
  private static final int HEADER = 4096;

  /** Of which a search takes half at a time. */
  private static final int PARTITIONS = 32;

  private static final int ENTRIES = 5_000;

  private final Random random = new Random(SEED);
  private final Map<ByteString, double[]> model = new HashMap<>();

  @TempDir Path directory;

  private DirectServer server;

  @BeforeEach
  void start() throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    server = DirectServer.start(directory, PARTITIONS);
    create();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void create() {
    final CreateIndexResponse unused =
        server
            .admin()
            .createIndex(
                CreateIndexRequest.newBuilder().setIndex(INDEX).setKind(IndexKind.SPATIAL).build());
  }

  private static ByteString id(int number) {
    return ByteString.copyFromUtf8("id " + number);
  }

  private static ByteString value(double[] box) {
    return BoxDescriptor.bytes(box[0], box[1], box[2], box[3]);
  }

  private double[] place() {
    final double x = random.nextDouble() * 100;
    final double y = random.nextDouble() * 100;
    return new double[] {x, y, x + random.nextInt(2), y + random.nextInt(2)};
  }

  /** Writes each of the entries at some place. */
  private void putAll() {
    for (int i = 0; i < ENTRIES; i += 1000) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(INDEX);
      for (int j = i; j < i + 1000; j++) {
        final double[] box = place();
        model.put(id(j), box);
        batch.addEntries(PutEntry.newBuilder().setKey(id(j)).setValue(value(box)));
      }
      server
          .index()
          .batchPut(batch.build())
          .getOutcomesList()
          .forEach(outcome -> assertEquals(0, outcome.getCode()));
    }
  }

  private static SearchRequest request(double minX, double minY, double maxX, double maxY) {
    final Box.Builder box =
        Box.newBuilder().setMinX(minX).setMinY(minY).setMaxX(maxX).setMaxY(maxY);
    return SearchRequest.newBuilder().setIntersects(box).build();
  }

  private static final SearchRequest ALL = request(-1, -1, 200, 200);

  private Set<ByteString> expected(SearchRequest request) {
    final Box box = request.getIntersects();
    final Set<ByteString> ids = new HashSet<>();
    model.forEach(
        (id, b) -> {
          if (b[0] <= box.getMaxX()
              && b[2] >= box.getMinX()
              && b[1] <= box.getMaxY()
              && b[3] >= box.getMinY()) {
            ids.add(id);
          }
        });
    return ids;
  }

  /** Adds what comes to ids, each once. */
  private DirectSink into(Set<ByteString> ids) {
    return entry -> {
      assertTrue(ids.add(entry.key()), () -> "twice: " + entry.key().toStringUtf8());
      assertEquals(value(model.get(entry.key())), entry.value());
      return true;
    };
  }

  /** Goes on by a call, and takes of its pages what is left. */
  private void call(DirectSearch search, Set<ByteString> ids) {
    final Iterator<ScanResponse> pages = server.index().search(search.request(INDEX));
    while (pages.hasNext() && !search.isDone()) {
      for (final Entry entry : search.answered(pages.next()).getEntriesList()) {
        assertTrue(ids.add(entry.getKey()), () -> "twice: " + entry.getKey().toStringUtf8());
      }
    }
  }

  @Test
  void findsWhatALookAtAllFinds() {
    try (DirectReader reader = server.openReader(INDEX);
        DirectReader other = server.openReader(INDEX)) {
      assertTrue(reader.isDirect(), reader::obstacle);
      final DirectValue value = new DirectValue();
      for (int round = 0; round < 4; round++) {
        putAll();
        for (int i = 0; i < 20; i++) {
          final double[] b = place();
          final SearchRequest request = request(b[0], b[1], b[0] + 10, b[1] + 10);
          final Set<ByteString> ids = new HashSet<>();
          assertEquals(DirectLook.ABSENT, reader.search(new DirectSearch(request), into(ids)));
          assertEquals(expected(request), ids);
          // In pieces, by two readers in turn.
          final DirectSearch search = new DirectSearch(request);
          final Set<ByteString> pieces = new HashSet<>();
          final DirectSink sink = into(pieces);
          DirectLook look = DirectLook.FOUND;
          for (int turn = 0; look == DirectLook.FOUND; turn++) {
            look =
                (turn % 2 == 0 ? reader : other)
                    .search(search, entry -> sink.take(entry) && random.nextInt(10) > 0);
          }
          assertEquals(DirectLook.ABSENT, look);
          assertEquals(ids, pieces);
          assertNearest(reader, b[0], b[1]);
        }
        assertTrue(reader.get(id(7), value));
        assertEquals(value(model.get(id(7))), value.value());
        assertFalse(reader.get(id(-1), value));
      }
      final Set<ByteString> few = new HashSet<>();
      final SearchRequest limited = ALL.toBuilder().setLimit(123).build();
      assertEquals(DirectLook.ABSENT, reader.search(new DirectSearch(limited), into(few)));
      assertEquals(123, few.size());
      final SearchRequest keysOnly = ALL.toBuilder().setKeysOnly(true).build();
      assertEquals(
          DirectLook.ABSENT,
          reader.search(new DirectSearch(keysOnly), entry -> entry.valueLength() == 0));
      assertEquals(0, reader.callReads() + other.callReads());
    }
  }

  private void assertNearest(DirectReader reader, double x, double y) {
    final NearestRequest request =
        NearestRequest.newBuilder()
            .setPoint(Point.newBuilder().setX(x).setY(y))
            .setLimit(9)
            .setWeightY(0.5)
            .build();
    final NearestResponse called =
        server.index().nearest(request.toBuilder().setIndex(INDEX).build());
    assertEquals(distances(called), distances(reader.nearest(request)));
    assertEquals(9, called.getNeighborsCount());
    // The nearest one is refused, whatever it is.
    final NearestRequest others =
        request.toBuilder()
            .setFilter(
                Filter.newBuilder()
                    .setComparison(
                        FieldComparison.newBuilder()
                            .setField(Field.newBuilder().setSource(Field.Source.KEY))
                            .setRelation(Comparison.Relation.NOT_EQUAL)
                            .setBytes(called.getNeighbors(0).getEntry().getKey())))
            .build();
    final NearestResponse left = server.index().nearest(others.toBuilder().setIndex(INDEX).build());
    assertEquals(distances(called).subList(1, 9), distances(left).subList(0, 8));
    assertEquals(9, left.getNeighborsCount());
    assertEquals(distances(left), distances(reader.nearest(others)));
  }

  private static List<Double> distances(NearestResponse response) {
    return response.getNeighborsList().stream().map(Neighbor::getDistance).toList();
  }

  /** Memory reports nothing: the call does. */
  @Test
  void whatIsNotLegalIsLeftToCalls() {
    putAll();
    try (DirectReader reader = server.openReader(INDEX)) {
      final DirectSearch inverted = new DirectSearch(request(1, 1, 0, 0));
      assertEquals(DirectLook.UNDECIDED, reader.search(inverted, entry -> true));
      final StatusRuntimeException refused =
          assertThrows(StatusRuntimeException.class, () -> call(inverted, new HashSet<>()));
      assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
      assertEquals(null, reader.nearest(NearestRequest.getDefaultInstance()));
      assertEquals(
          null,
          reader.nearest(
              NearestRequest.newBuilder()
                  .setPoint(Point.getDefaultInstance())
                  .setLimit(1)
                  .setFilter(Filter.getDefaultInstance())
                  .build()));
      assertTrue(reader.isDirect());
    }
    server.createHash("hash");
    try (DirectReader reader = server.openReader("hash")) {
      assertTrue(reader.isDirect());
      assertEquals(DirectLook.UNDECIDED, reader.search(new DirectSearch(ALL), entry -> true));
    }
  }

  /** No id comes twice, and none is missing, wherever the grant ends; entries move meanwhile. */
  @Test
  void searchGoesOnByACallWhenItsGrantEnds() throws Exception {
    putAll();
    final AtomicBoolean ending = new AtomicBoolean();
    final Thread mover =
        new Thread(
            () -> {
              final Random moves = new Random(SEED);
              while (!ending.get()) {
                final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(INDEX);
                for (int i = 0; i < 10; i++) {
                  final double x = moves.nextDouble() * 100;
                  batch.addEntries(
                      PutEntry.newBuilder()
                          .setKey(id(moves.nextInt(ENTRIES)))
                          .setValue(value(new double[] {x, x, x, x})));
                }
                final var unused = server.index().batchPut(batch.build());
              }
            });
    final ManagedChannel channel = server.newChannel();
    mover.start();
    try {
      for (int round = 0; round < 12; round++) {
        final LastGrant last = new LastGrant();
        try (DirectReader reader =
            DirectReader.open(
                ClientInterceptors.intercept(channel, last), INDEX, server.context())) {
          assertTrue(reader.isDirect(), reader::obstacle);
          final int at = round == 0 ? 0 : 1 + random.nextInt(ENTRIES - 1);
          final Set<ByteString> ids = new HashSet<>();
          final DirectSink sink =
              entry -> {
                assertTrue(ids.add(entry.key()));
                if (ids.size() == at) {
                  last.release(channel);
                }
                return true;
              };
          if (at == 0) {
            last.release(channel);
          }
          final DirectSearch search = new DirectSearch(ALL);
          DirectLook look;
          do {
            look = reader.search(search, sink);
          } while (look == DirectLook.FOUND);
          final int direct = ids.size();
          assertEquals(DirectLook.UNDECIDED, look, "at=" + at);
          assertTrue(direct >= at && direct < at + COPIED, "at=" + at + " direct=" + direct);
          call(search, ids);
          assertEquals(model.keySet(), ids, "seed=" + SEED + " at=" + at);
        }
      }
    } finally {
      ending.set(true);
      mover.join();
      channel.shutdownNow();
    }
  }

  @Test
  void searchOfADroppedIndexIsAborted() {
    putAll();
    try (DirectReader reader = server.openReader(INDEX)) {
      final DirectSearch search = new DirectSearch(ALL);
      final Set<ByteString> ids = new HashSet<>();
      final DirectSink sink = into(ids);
      assertEquals(
          DirectLook.FOUND, reader.search(search, entry -> sink.take(entry) && ids.size() < 1_500));
      final var unused =
          server.admin().dropIndex(DropIndexRequest.newBuilder().setIndex(INDEX).build());
      create();
      putAll();
      // What was copied before may still come.
      assertEquals(DirectLook.UNDECIDED, reader.search(search, entry -> ids.add(entry.key())));
      assertTrue(ids.size() < 1_500 + COPIED, "ids=" + ids.size());
      final StatusRuntimeException aborted =
          assertThrows(StatusRuntimeException.class, () -> call(search, ids));
      assertEquals(Status.Code.ABORTED, aborted.getStatus().getCode());
    }
  }

  /**
   * A process of the same user makes each leaf its own neighbour. A search goes round until its
   * timeout; a Nearest, whose candidates wait, until there are too many. Both are left to calls.
   */
  @Test
  void cycleInMemoryIsLeftInTime() throws Exception {
    putAll();
    final LastGrant last = new LastGrant();
    final ManagedChannel channel = server.newChannel();
    final Channel noting = ClientInterceptors.intercept(channel, last);
    final DirectContext hurried =
        server.context().timeout(Duration.ofMillis(300)).grantWait(Duration.ofSeconds(30));
    try (DirectReader reader = DirectReader.open(noting, INDEX, hurried);
        DirectReader patient = server.openReader(INDEX, Duration.ofSeconds(60))) {
      assertTrue(reader.isDirect(), reader::obstacle);
      assertTrue(patient.isDirect(), patient::obstacle);
      assertTrue(forgeLeaves(last.grant.getNumber()) > ENTRIES / 34);
      final NearestRequest near =
          NearestRequest.newBuilder().setPoint(Point.getDefaultInstance()).setLimit(1_000).build();
      final long startNs = System.nanoTime();
      assertEquals(
          DirectLook.UNDECIDED, reader.search(new DirectSearch(ALL), into(new HashSet<>())));
      assertEquals(null, patient.nearest(near));
      final long tookNs = System.nanoTime() - startNs;
      assertTrue(tookNs < TimeUnit.SECONDS.toNanos(15), "tookNs=" + tookNs);
    } finally {
      channel.shutdownNow();
    }
  }

  /** Writes into the segments of the index memory; returns the number of the leaves. */
  private int forgeLeaves(long number) throws IOException {
    int leaves = 0;
    final byte[] image = new byte[SpatialNodeDescriptor.COPY_LENGTH];
    final CRC32C crc = new CRC32C();
    try (Stream<Path> files = Files.walk(directory)) {
      for (final Path file : files.filter(f -> f.toString().endsWith("-segment-0")).toList()) {
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          final MappedByteBuffer memory =
              channel.map(MapMode.READ_WRITE, HEADER, channel.size() - HEADER);
          for (int at = 0; at < memory.limit(); at += SpatialNodeDescriptor.LENGTH) {
            memory.get(at, image, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.LENGTH);
            final int stored = BlockDescriptor.getCrc(image);
            final long birth =
                SpatialNodeDescriptor.word(image, SpatialNodeDescriptor.BIRTH_OFFSET);
            if (SpatialNodeDescriptor.level(image) == 0
                && birth > SpatialNodeDescriptor.ROOT_BIRTH
                && SpatialNodeDescriptor.crc(crc, image, number, at) == stored) {
              leaves++;
              SpatialNodeDescriptor.putWord(
                  image, SpatialNodeDescriptor.SPLIT_OFFSET, Long.MAX_VALUE);
              SpatialNodeDescriptor.putWord(image, SpatialNodeDescriptor.RIGHT_OFFSET, at);
              SpatialNodeDescriptor.putWord(image, SpatialNodeDescriptor.RIGHT_BIRTH_OFFSET, birth);
              BlockDescriptor.putCrc(image, SpatialNodeDescriptor.crc(crc, image, number, at));
              memory.put(at, image, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.LENGTH);
            }
          }
        }
      }
    }
    return leaves;
  }

  /** The last grant that a channel has got. */
  private static final class LastGrant implements ClientInterceptor {
    private volatile GrantResponse grant;

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(R message) {
                  if (message instanceof GrantResponse granted) {
                    grant = granted;
                  }
                  super.onMessage(message);
                }
              },
              headers);
        }
      };
    }

    /** Ends the grant. */
    void release(Channel channel) {
      assertTrue(
          DirectAccessGrpc.newBlockingStub(channel)
              .withDeadlineAfter(30, TimeUnit.SECONDS)
              .release(ReleaseRequest.newBuilder().setToken(grant.getToken()).build())
              .getExisted());
    }
  }
}

package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Chains of entries, by calls and in memory. */
@Timeout(60)
class FollowTest {
  private static final Field<ByteString> NEXT = Field.value().bytes(1, 3);

  @TempDir Path directory;
  private final Map<Access, Integer> routes = new EnumMap<>(Access.class);
  private TestServer server;
  private IndexClient client;
  private ManagedChannel plain;
  private IndexClient stranger; // whom the server grants nothing

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    client =
        server
            .builder()
            .metrics(
                (operation, index, route, code, durationNs) -> {
                  if (operation == Operation.FOLLOW) {
                    routes.merge(route, 1, Integer::sum);
                  }
                })
            .build();
    plain = Grpc.newChannelBuilder(server.target(), InsecureChannelCredentials.create()).build();
    stranger = server.builder(plain).build();
  }

  @AfterEach
  void stop() {
    client.close();
    stranger.close();
    plain.shutdownNow();
    server.close();
  }

  private static String key(int number) {
    return String.format("%03d", number);
  }

  private Stream<KeyedIndex<String, String>> views() {
    final HashIndex<String, String> hash = client.hash("h", Codec.string(), Codec.string());
    final OrderedIndex<String, String> ordered =
        client.ordered("o", Codec.string(), Codec.string());
    for (final KeyedIndex<String, String> index : List.of(hash, ordered)) {
      IntStream.range(0, 20).forEach(i -> index.put(key(i), "-" + key(i + 1) + " and more"));
    }
    return Stream.of(
        hash,
        ordered,
        hash.access(Access.DIRECT),
        ordered.access(Access.DIRECT),
        stranger.hash("h", Codec.string(), Codec.string()).access(Access.DIRECT));
  }

  private static List<String> keys(List<IndexEntry<String, String>> chain) {
    return chain.stream().map(IndexEntry::key).toList();
  }

  private static List<String> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(FollowTest::key).toList();
  }

  @Test
  void chainsOfAllRoutesAreTheSame() {
    views()
        .forEach(
            index -> {
              assertEquals(keys(0, 16), keys(index.follow(key(0), NEXT, 16)));
              assertEquals(keys(7, 8), keys(index.follow(key(7), NEXT, 1)));
              assertEquals(keys(15, 20), keys(index.follow(key(15), NEXT, 16)), "020 is missing");
              assertEquals(List.of(), index.follow("none", NEXT, 16));
              assertEquals("-008 and more", index.follow(key(7), NEXT, 2).get(0).value());
              index.put("end", "-");
              index.put("too long", "-" + "x".repeat(2_000));
              index.put("loop", "-loop");
              final Field<ByteString> all = Field.value().bytes(1, 9_999);
              assertEquals(List.of("end"), keys(index.follow("end", all, 3)));
              assertEquals(List.of("too long"), keys(index.follow("too long", all, 3)));
              assertEquals(16, index.follow("loop", all, 16).size());
              index.remove("end");
            });
    assertTrue(routes.get(Access.DIRECT) > 10, routes::toString);
    assertTrue(routes.get(Access.RPC) > 10, routes::toString);
  }

  @Test
  void whatIsTooLongOrNoChainIsRefused() {
    views()
        .forEach(
            index -> {
              index.put("loop", "-loop" + "x".repeat(900_000));
              final Field<ByteString> next = Field.value().bytes(1, 4);
              assertEquals(4, index.follow("loop", next, 4).size());
              refused(Status.Code.RESOURCE_EXHAUSTED, index, "loop", next, 5);
              refused(Status.Code.INVALID_ARGUMENT, index, "loop", next, 0);
              refused(Status.Code.INVALID_ARGUMENT, index, "loop", next, 17);
              refused(Status.Code.INVALID_ARGUMENT, index, "", next, 2);
            });
  }

  private static void refused(
      Status.Code code,
      KeyedIndex<String, String> index,
      String first,
      Field<ByteString> next,
      int most) {
    final IndexException e =
        assertThrows(IndexException.class, () -> index.follow(first, next, most));
    assertEquals(code, e.code(), e.getMessage());
    assertEquals(Operation.FOLLOW, e.operation());
  }

  /** A kernel of the tests' class path goes along the whole chain. */
  @Test
  void kernelsGoByOneCall() {
    final HashIndex<String, String> index = client.hash("k", Codec.string(), Codec.string());
    IntStream.range(0, 20).forEach(i -> index.put(key(i), key(i + 1)));
    final ByteString first = ByteString.copyFromUtf8(key(0));
    assertEquals(key(20), index.runKernel("end-of-chain", first).toStringUtf8());
    assertEquals(key(20), index.async().runKernel("end-of-chain", first).join().toStringUtf8());
    assertEquals(
        key(20), index.access(Access.DIRECT).runKernel("end-of-chain", first).toStringUtf8());
    final IndexException unknown =
        assertThrows(IndexException.class, () -> index.runKernel("none", first));
    assertEquals(Status.Code.NOT_FOUND, unknown.code());
    assertTrue(unknown.getMessage().contains("kernel=none"), unknown::getMessage);
  }
}

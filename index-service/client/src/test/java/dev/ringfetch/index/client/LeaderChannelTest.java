package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.NodeAddress;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.Trailers;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where calls go in a cluster whose nodes say what a test wants. */
@Timeout(60)
final class LeaderChannelTest {
  private static final GetRequest REQUEST =
      GetRequest.newBuilder().setIndex("a").setKey(ByteString.copyFromUtf8("k")).build();

  private final List<Node> nodes = new ArrayList<>();
  private LeaderChannel channel;

  /** A node that does not lead unless told. */
  private static final class Node implements IndexGrpc.AsyncService {
    private final Server server;
    private final AtomicInteger calls = new AtomicInteger();
    private volatile Status status; // null: it answers
    private volatile String leader; // null: it names none
    private volatile String named; // all nodes; null: it does not say
    private volatile boolean silent;
    private final CountDownLatch connected = new CountDownLatch(1);
    private final CountDownLatch cancelled = new CountDownLatch(1);

    Node() throws IOException {
      server =
          NettyServerBuilder.forPort(0)
              .directExecutor()
              .addTransportFilter(
                  new ServerTransportFilter() {
                    @Override
                    public Attributes transportReady(Attributes attributes) {
                      connected.countDown();
                      return attributes;
                    }
                  })
              .addService(IndexGrpc.bindService(this))
              .build()
              .start();
    }

    String address() {
      return "localhost:" + server.getPort();
    }

    void follow(String address) {
      status = Status.FAILED_PRECONDITION;
      leader = address;
    }

    @Override
    public void get(GetRequest request, StreamObserver<GetResponse> responses) {
      calls.incrementAndGet();
      if (silent) {
        ((ServerCallStreamObserver<GetResponse>) responses)
            .setOnCancelHandler(cancelled::countDown);
      } else if (status == null) {
        responses.onNext(GetResponse.newBuilder().setIncarnation(server.getPort()).build());
        responses.onCompleted();
      } else {
        final Metadata trailers = new Metadata();
        if (leader != null) {
          trailers.put(Trailers.LEADER, leader);
        }
        if (named != null) {
          trailers.put(Trailers.NODES, named);
        }
        responses.onError(status.asException(trailers));
      }
    }
  }

  @BeforeEach
  void start() throws IOException {
    for (int i = 0; i < 3; i++) {
      nodes.add(new Node());
    }
    channel = new LeaderChannel(targets(), LeaderChannelTest::connect, new ClientThreads(null));
  }

  private Targets targets() {
    return Targets.of(nodes.get(0).address());
  }

  private static ManagedChannel connect(String address) {
    return NettyChannelBuilder.forTarget(address).usePlaintext().build();
  }

  @AfterEach
  void stop() throws InterruptedException {
    channel.shutdownNow();
    assertTrue(channel.awaitTermination(10, TimeUnit.SECONDS));
    for (final Node node : nodes) {
      node.server.shutdownNow();
      assertTrue(node.server.awaitTermination(10, TimeUnit.SECONDS));
    }
  }

  private IndexGrpc.IndexBlockingStub stub(int seconds) {
    return IndexGrpc.newBlockingStub(channel).withDeadlineAfter(seconds, TimeUnit.SECONDS);
  }

  private void answers(int node, IndexGrpc.IndexBlockingStub stub) {
    assertEquals(nodes.get(node).server.getPort(), stub.get(REQUEST).getIncarnation());
  }

  @Test
  void aRefusedCallGoesToTheLeaderAndLaterOnesAtOnce() {
    nodes.get(0).follow(nodes.get(1).address());
    nodes.get(1).follow(nodes.get(2).address());
    answers(2, stub(20));
    answers(2, stub(20));
    assertEquals(1, nodes.get(0).calls.get());
    assertEquals(1, nodes.get(1).calls.get());
    assertEquals(2, nodes.get(2).calls.get());
  }

  @Test
  void aCallForOneNodeGoesThereAndNowhereElse() {
    answers(0, stub(20));
    answers(2, stub(20).withOption(NodeAddress.KEY, nodes.get(2).address()));
    answers(0, stub(20));
    nodes.get(1).follow(nodes.get(0).address());
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        failure(stub(20).withOption(NodeAddress.KEY, nodes.get(1).address())));
    assertEquals(1, nodes.get(1).calls.get());
  }

  /** So that a call goes on at another node without the time that a connection takes. */
  @Test
  void nodesThatGetNoCallsAreConnectedToo() throws Exception {
    nodes.get(0).named = String.join(",", nodes.stream().map(Node::address).toArray(String[]::new));
    nodes.get(0).follow(nodes.get(1).address());
    answers(1, stub(20));
    assertEquals(0, nodes.get(2).calls.get());
    assertTrue(nodes.get(2).connected.await(20, TimeUnit.SECONDS));
  }

  @Test
  void nodesThatNameEachOtherEndTheCall() {
    nodes.get(0).follow(nodes.get(1).address());
    nodes.get(1).follow(nodes.get(0).address());
    assertEquals(Status.Code.UNAVAILABLE, failure(stub(20))); // it was carried out by none
    assertEquals(17, nodes.get(0).calls.get() + nodes.get(1).calls.get());
  }

  private static Status.Code failure(IndexGrpc.IndexBlockingStub stub) {
    return assertThrows(StatusRuntimeException.class, () -> stub.get(REQUEST))
        .getStatus()
        .getCode();
  }

  /** Two of three nodes are gone, the leader among them: a server is there all the same. */
  @Test
  void aCallWithoutALeaderSaysWhoAnswers() throws Exception {
    final String leader = nodes.get(1).address();
    nodes.get(0).named = String.join(",", nodes.stream().map(Node::address).toArray(String[]::new));
    nodes.get(0).follow(leader);
    for (final Node gone : nodes.subList(1, 3)) {
      gone.server.shutdownNow();
      assertTrue(gone.server.awaitTermination(10, TimeUnit.SECONDS));
    }
    for (final IndexGrpc.IndexBlockingStub each : List.of(stub(20), stub(1).withWaitForReady())) {
      final Status status =
          assertThrows(StatusRuntimeException.class, () -> each.get(REQUEST)).getStatus();
      assertEquals(Status.Code.UNAVAILABLE, status.getCode());
      final String words = status.getDescription();
      assertTrue(words.startsWith("no node leads the index now: index=a, 1 of 3 nodes"), words);
      assertTrue(words.contains(leader), words);
    }
  }

  @Test
  void anAddressThatCannotBeEndsTheCall() {
    nodes.get(0).follow("unknown:scheme:///");
    channel.shutdownNow();
    channel =
        new LeaderChannel(
            targets(),
            address -> {
              if (address.startsWith("unknown")) {
                throw new IllegalArgumentException("address=" + address);
              }
              return connect(address);
            },
            new ClientThreads(null));
    assertEquals(Status.Code.UNAVAILABLE, failure(stub(20)));
    nodes.get(0).follow(nodes.get(1).address());
    answers(1, stub(20)); // it was forgotten
  }

  @Test
  void aLostLeaderIsForgottenAndTheNextCallAsksAnotherNode() {
    nodes.get(0).follow(nodes.get(1).address());
    answers(1, stub(20));
    nodes.get(1).status = Status.UNAVAILABLE;
    nodes.get(0).follow(nodes.get(2).address());
    assertEquals(Status.Code.UNAVAILABLE, failure(stub(20))); // not made again: it may be a write
    assertEquals(2, nodes.get(1).calls.get());
    answers(2, stub(20));
  }

  @Test
  void aCallThatWaitsForReadyIsMadeAgainUntilANodeAnswers() throws Exception {
    nodes.get(0).status = Status.UNAVAILABLE;
    final Thread later =
        new Thread(
            () -> {
              while (nodes.get(0).calls.get() < 3) {
                Thread.onSpinWait();
              }
              nodes.get(0).follow(nodes.get(2).address());
            });
    later.start();
    answers(2, stub(20).withWaitForReady());
    later.join();
    assertTrue(nodes.get(0).calls.get() > 3);
  }

  @Test
  void aCallThatWaitsGoesOnWhereTheNamedLeaderIsLost() throws Exception {
    nodes.get(0).follow(nodes.get(1).address()); // it has not noticed yet
    nodes.get(1).status = Status.UNAVAILABLE;
    final Thread later =
        new Thread(
            () -> {
              while (nodes.get(0).calls.get() < 3) {
                Thread.onSpinWait();
              }
              nodes.get(0).follow(nodes.get(2).address());
            });
    later.start();
    answers(2, stub(20).withWaitForReady());
    later.join();
  }

  @Test
  void itForgetsAddressesThatAreNoNodesAnyMore() {
    nodes.get(0).follow(nodes.get(1).address());
    nodes.get(0).named = nodes.get(0).address() + "," + nodes.get(1).address();
    answers(1, stub(20));
    assertEquals(
        List.of(nodes.get(0).address(), nodes.get(1).address()), channel.nodes().addresses());
    nodes.get(1).follow(nodes.get(2).address());
    nodes.get(1).named = nodes.get(2).address();
    answers(2, stub(20));
    // The one that the application has named, and the one that is left.
    assertEquals(
        List.of(nodes.get(0).address(), nodes.get(2).address()), channel.nodes().addresses());
  }

  @Test
  void itEndsAtItsDeadlineWhateverNodesSay() {
    nodes.get(0).status = Status.UNAVAILABLE;
    final long beginNs = System.nanoTime();
    final Status.Code code = failure(stub(1).withWaitForReady());
    assertTrue(
        code == Status.Code.UNAVAILABLE || code == Status.Code.DEADLINE_EXCEEDED, code::name);
    assertTrue(System.nanoTime() - beginNs < TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void aCancelReachesTheNode() throws Exception {
    nodes.get(0).follow(nodes.get(1).address());
    nodes.get(1).silent = true;
    final AtomicReference<ClientCallStreamObserver<GetRequest>> started = new AtomicReference<>();
    final CountDownLatch ended = new CountDownLatch(1);
    IndexGrpc.newStub(channel)
        .get(
            REQUEST,
            new ClientResponseObserver<GetRequest, GetResponse>() {
              @Override
              public void beforeStart(ClientCallStreamObserver<GetRequest> call) {
                started.set(call);
              }

              @Override
              public void onNext(GetResponse response) {}

              @Override
              public void onError(Throwable failure) {
                ended.countDown();
              }

              @Override
              public void onCompleted() {}
            });
    while (nodes.get(1).calls.get() == 0) {
      Thread.onSpinWait();
    }
    started.get().cancel("enough", null);
    assertTrue(ended.await(10, TimeUnit.SECONDS));
    assertTrue(nodes.get(1).cancelled.await(10, TimeUnit.SECONDS));
  }

  @Test
  void aCallThatWasCancelledBeforeItsMessageEnds() throws Exception {
    final ClientCall<GetRequest, GetResponse> call =
        channel.newCall(IndexGrpc.getGetMethod(), CallOptions.DEFAULT);
    final CountDownLatch ended = new CountDownLatch(1);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            assertEquals(Status.Code.CANCELLED, status.getCode());
            ended.countDown();
          }
        },
        new Metadata());
    call.cancel("enough", null);
    assertTrue(ended.await(10, TimeUnit.SECONDS));
  }
}

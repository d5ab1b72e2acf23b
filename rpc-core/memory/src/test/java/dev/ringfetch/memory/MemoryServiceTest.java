package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.memory.v1.AttachRequest;
import dev.ringfetch.memory.v1.AttachResponse;
import dev.ringfetch.memory.v1.FabricHint;
import dev.ringfetch.memory.v1.GetRequest;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.memory.v1.GrantRequest;
import dev.ringfetch.memory.v1.Kind;
import dev.ringfetch.memory.v1.LockRequest;
import dev.ringfetch.memory.v1.LockResponse;
import dev.ringfetch.memory.v1.Place;
import dev.ringfetch.memory.v1.PollRequest;
import dev.ringfetch.memory.v1.PollResponse;
import dev.ringfetch.memory.v1.SharedMemoryGrpc;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the service refuses, and how the grants of clients end. */
@Timeout(60)
class MemoryServiceTest {
  private static final Metadata.Key<String> PORT =
      Metadata.Key.of("port", Metadata.ASCII_STRING_MARSHALLER);

  private final SimNetwork network =
      new SimNetwork(new Timeline(Long.getLong("ringfetch.seed", 1)), new SimContext());
  private final SimFabric fabric = network.open();
  private volatile String denied = ""; // method that an interceptor refuses
  private volatile boolean encrypted; // as an interceptor shows calls
  private Regions regions;
  private Server server;
  private ManagedChannel channel;
  private SharedMemoryGrpc.SharedMemoryBlockingStub stub;
  private byte nextToken;

  private final ServerInterceptor interceptor =
      new ServerInterceptor() {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
          if (call.getMethodDescriptor().getBareMethodName().equals(denied)) {
            call.close(Status.PERMISSION_DENIED, new Metadata());
            return new ServerCall.Listener<>() {};
          }
          final String shown = headers.get(PORT);
          final int port = shown == null ? 1 : Integer.parseInt(shown);
          return next.startCall(
              new SimpleForwardingServerCall<>(call) {
                @Override
                public Attributes getAttributes() { // as of TCP
                  return super.getAttributes().toBuilder()
                      .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, new InetSocketAddress(port))
                      .build();
                }

                @Override
                public SecurityLevel getSecurityLevel() {
                  return encrypted ? SecurityLevel.PRIVACY_AND_INTEGRITY : SecurityLevel.NONE;
                }
              },
              headers);
        }
      };

  @BeforeEach
  void start() throws IOException {
    final InProcessServerBuilder builder =
        InProcessServerBuilder.forName("memory").intercept(interceptor);
    regions = Regions.on(builder, List.of(fabric), 4);
    server = builder.build().start();
    channel = InProcessChannelBuilder.forName("memory").build();
    stub = SharedMemoryGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void end() throws InterruptedException {
    regions.close();
    channel.shutdownNow();
    server.shutdownNow();
    server.awaitTermination();
  }

  private static void assertStatus(Status.Code code, String text, Runnable call) {
    final StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, call::run);
    assertEquals(code, thrown.getStatus().getCode(), thrown.toString());
    assertTrue(
        text.isEmpty() || thrown.getStatus().getDescription().contains(text), thrown.toString());
  }

  private ByteString token() {
    final byte[] token = new byte[16];
    token[0] = ++nextToken;
    return ByteString.copyFrom(token);
  }

  private AttachRequest attachment(ByteString token) {
    return AttachRequest.newBuilder()
        .addFabrics(
            FabricHint.newBuilder()
                .setFabric(fabric.name())
                .setHint(ByteString.copyFrom(fabric.hint())))
        .setToken(token)
        .build();
  }

  private Context.CancellableContext attach(ByteString token) {
    return attach(token, new ArrayList<>());
  }

  private Context.CancellableContext attach(ByteString token, List<AttachResponse> answers) {
    final Context.CancellableContext context = Context.current().withCancellation();
    context.run(
        () -> {
          final Iterator<AttachResponse> stream =
              stub.withDeadlineAfter(30, TimeUnit.SECONDS).attach(attachment(token));
          answers.add(stream.next());
        });
    assertEquals(fabric.name(), answers.get(0).getFabric());
    return context;
  }

  private GrantRequest grant(ByteString token, Kind kind) {
    return GrantRequest.newBuilder().setName("ibm").setKind(kind).setToken(token).build();
  }

  @Test
  void grantsEndWithTheStream() throws IOException {
    regions.value("ibm", Words.CODEC, 64);
    final ByteString token = token();
    final Status.Code refused = Status.Code.FAILED_PRECONDITION;
    assertStatus(refused, "not attached", () -> stub.grant(grant(token, Kind.VALUE)));
    final List<AttachResponse> answers = new ArrayList<>();
    final Context.CancellableContext stream = attach(token, answers);
    final RemoteDomain remote =
        network
            .open()
            .connectDomain(answers.get(0).getDomain().toByteArray(), token.toByteArray(), 0);
    assertFalse(stub.grant(grant(token, Kind.VALUE)).getSegment().isEmpty());
    assertFalse(remote.isRevoked());
    assertStatus(refused, "another kind", () -> stub.grant(grant(token, Kind.BROADCAST)));
    assertStatus(
        Status.Code.INVALID_ARGUMENT,
        "kind",
        () -> stub.grant(grant(token, Kind.KIND_UNSPECIFIED)));
    stream.cancel(null);
    MemoryHarness.await("the end of the admission", remote::isRevoked);
    MemoryHarness.await(
        "the end of the grant",
        () -> {
          try {
            return stub.grant(grant(token, Kind.VALUE)) == null;
          } catch (StatusRuntimeException e) {
            return e.getStatus().getCode() == refused;
          }
        });
  }

  @Test
  void attachmentsAreRefusedWithTheReason() {
    final Status.Code refused = Status.Code.FAILED_PRECONDITION;
    assertStatus(
        Status.Code.INVALID_ARGUMENT,
        "15 != 16",
        () -> stub.attach(attachment(ByteString.copyFrom(new byte[15]))).next());
    assertStatus(
        refused,
        "not offered",
        () -> stub.attach(AttachRequest.newBuilder().setToken(token()).build()).next());
    final AttachRequest.Builder stranger = attachment(token()).toBuilder();
    stranger.getFabricsBuilder(0).setHint(ByteString.copyFromUtf8("elsewhere"));
    assertStatus(refused, "", () -> stub.attach(stranger.build()).next());
    final ByteString token = token();
    attach(token);
    assertStatus(refused, "not new", () -> stub.attach(attachment(token)).next());
    encrypted = true;
    assertStatus(refused, "encrypted", () -> stub.attach(attachment(token())).next());
  }

  @Test
  void oneConnectionHasNotAllAdmissions() {
    final List<Context.CancellableContext> streams = new ArrayList<>();
    for (int i = 0; i < Admissions.CONNECTION_LIMIT; i++) {
      streams.add(attach(token()));
    }
    assertStatus(
        Status.Code.FAILED_PRECONDITION, "limit=16", () -> stub.attach(attachment(token())).next());
    streams.get(0).cancel(null);
    MemoryHarness.await(
        "room",
        () -> {
          try {
            attach(token());
            return true;
          } catch (StatusRuntimeException e) {
            return false;
          }
        });
  }

  @Test
  void interceptorsDecideAboutGrants() {
    regions.value("ibm", Words.CODEC, 64).set(new Words(1, 1));
    denied = "Grant";
    final MemoryContext context = new MemoryContext();
    try (Memory memory = Memory.connect(channel, context, List.of(network.open()))) {
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      final RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      assertEquals(1, remote.get().value().word(), "by a call");
      assertEquals(0, remote.directReads());
      assertTrue(remote.obstacle().orElseThrow().contains("PERMISSION_DENIED"));
    }
    denied = "Attach";
    try (Memory memory = Memory.connect(channel, context, List.of(network.open()))) {
      assertFalse(memory.awaitAttached(Duration.ofSeconds(30)));
      assertEquals(1, memory.value("ibm", Words.CODEC).get().value().word());
      assertTrue(memory.obstacle().orElseThrow().contains("PERMISSION_DENIED"));
    }
  }

  @Test
  void placesOfNoMessageAreRefused() {
    final Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, 4096);
    for (int i = 0; i < 10; i++) {
      trades.publish(new Words(i + 1, 2));
    }
    final PollRequest.Builder request = PollRequest.newBuilder().setName("trades");
    final Place end = stub.poll(request.build()).getNext();
    assertEquals(320, end.getPosition());
    assertEquals(10, end.getSequence());
    final Place.Builder begin = Place.newBuilder().setOwner(end.getOwner());
    assertEquals(10, stub.poll(request.setPlace(begin).build()).getMessagesCount());
    final Status.Code invalid = Status.Code.INVALID_ARGUMENT;
    for (final long position : new long[] {-8, 4, 8, 16, Long.MIN_VALUE}) {
      assertStatus(
          invalid, "", () -> stub.poll(request.setPlace(begin.setPosition(position)).build()));
    }
    assertStatus(
        invalid,
        "expected=3",
        () -> stub.poll(request.setPlace(begin.setPosition(0).setSequence(3)).build()));
    for (final long position : new long[] {4096 - 8, Long.MAX_VALUE & -4096}) {
      begin.setPosition(position).setSequence(0);
      assertEquals(0, stub.poll(request.setPlace(begin).build()).getMessagesCount(), "none yet");
    }
    begin.setOwner(end.getOwner() + 1);
    assertStatus(
        Status.Code.ABORTED, "fromLatest", () -> stub.poll(request.setPlace(begin).build()));
  }

  /** However long the ring is: an answer has to fit a channel's limit. */
  @Test
  void answersAreOfABatch() {
    final Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, 1 << 20);
    for (int i = 0; i < 200; i++) {
      trades.publish(new Words(i, 128));
    }
    Place.Builder next =
        stub.poll(PollRequest.newBuilder().setName("trades").build()).getNext().toBuilder();
    next.setPosition(0).setSequence(0);
    int count = 0;
    while (count < 200) {
      final PollResponse answer =
          stub.poll(PollRequest.newBuilder().setName("trades").setPlace(next).build());
      assertTrue(answer.getMessagesCount() > 0, "count=" + count);
      assertTrue(answer.getSerializedSize() <= 64 << 10, "length=" + answer.getSerializedSize());
      count += answer.getMessagesCount();
      next = answer.getNext().toBuilder();
    }
    assertEquals(200, next.getSequence());
  }

  @Test
  void waitingGetsHaveALimit() throws InterruptedException {
    regions.value("ibm", Words.CODEC, 64);
    final BlockingQueue<Status> ends = new LinkedBlockingQueue<>();
    await(1, Waiting.CONNECTION_LIMIT + 1, ends);
    assertFull("limit of a connection=128", ends);
    for (int port = 2; port <= Waiting.LIMIT / Waiting.CONNECTION_LIMIT; port++) {
      await(port, Waiting.CONNECTION_LIMIT, ends);
    }
    await(100, 1, ends);
    assertFull("limit=1024", ends);
    regions.close();
    for (int i = 0; i < Waiting.LIMIT; i++) {
      assertEquals(Status.Code.NOT_FOUND, ends.poll(30, TimeUnit.SECONDS).getCode());
    }
  }

  private static void assertFull(String limit, BlockingQueue<Status> ends)
      throws InterruptedException {
    final Status end = ends.poll(30, TimeUnit.SECONDS);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, end.getCode());
    assertTrue(end.getDescription().contains("name=ibm " + limit), end.toString());
  }

  /** Makes calls that wait, as if by the connection of a port. */
  private void await(int port, int count, BlockingQueue<Status> ends) {
    final Metadata headers = new Metadata();
    headers.put(PORT, String.valueOf(port));
    for (int i = 0; i < count; i++) {
      SharedMemoryGrpc.newStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
          .get(
              GetRequest.newBuilder().setName("ibm").setAfter(0).build(),
              new StreamObserver<>() {
                @Override
                public void onNext(GetResponse response) {}

                @Override
                public void onError(Throwable t) {
                  ends.add(Status.fromThrowable(t));
                }

                @Override
                public void onCompleted() {
                  ends.add(Status.OK);
                }
              });
    }
  }

  private StreamObserver<LockRequest> lock(BlockingQueue<Object> answers) {
    return SharedMemoryGrpc.newStub(channel)
        .lock(
            new StreamObserver<>() {
              @Override
              public void onNext(LockResponse response) {
                answers.add(response.getFence());
              }

              @Override
              public void onError(Throwable t) {
                answers.add(Status.fromThrowable(t).getCode());
              }

              @Override
              public void onCompleted() {
                answers.add(Status.Code.OK);
              }
            });
  }

  @Test
  void callsForLocksEndWithTheOwner() throws InterruptedException {
    final OwnerLock lock = regions.lock("printer");
    final BlockingQueue<Object> held = new LinkedBlockingQueue<>();
    lock(held).onNext(LockRequest.newBuilder().setName("printer").build());
    final long fence = (long) held.poll(30, TimeUnit.SECONDS);
    final BlockingQueue<Object> idle = new LinkedBlockingQueue<>();
    lock(idle); // names none
    regions.close();
    assertEquals(Status.Code.UNAVAILABLE, held.poll(30, TimeUnit.SECONDS));
    assertEquals(Status.Code.UNAVAILABLE, idle.poll(30, TimeUnit.SECONDS));
    assertFalse(lock.isHeldBy(fence));
    final BlockingQueue<Object> late = new LinkedBlockingQueue<>();
    lock(late);
    assertEquals(Status.Code.UNAVAILABLE, late.poll(30, TimeUnit.SECONDS));
    server.shutdown();
    assertTrue(server.awaitTermination(30, TimeUnit.SECONDS));
  }

  @Test
  void lockCallIsForOneLock() throws InterruptedException {
    final OwnerLock lock = regions.lock("printer");
    final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    final StreamObserver<LockRequest> call = lock(answers);
    final LockRequest request = LockRequest.newBuilder().setName("printer").build();
    call.onNext(request);
    final long fence = (long) answers.poll(30, TimeUnit.SECONDS);
    assertTrue(lock.isHeldBy(fence));
    call.onNext(request);
    assertEquals(Status.Code.INVALID_ARGUMENT, answers.poll(30, TimeUnit.SECONDS));
    lock.acquire(Duration.ofSeconds(30)).orElseThrow().close();
  }
}

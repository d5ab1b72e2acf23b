package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.memory.v1.AttachRequest;
import dev.ringfetch.memory.v1.AttachResponse;
import dev.ringfetch.memory.v1.GetRequest;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.memory.v1.GrantRequest;
import dev.ringfetch.memory.v1.GrantResponse;
import dev.ringfetch.memory.v1.SharedMemoryGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Owners that answer and write what they should not. */
@Timeout(60)
class HostileOwnerTest implements SharedMemoryGrpc.AsyncService {
  private static final int CAPACITY = 64;

  private final SimNetwork network = new SimNetwork(new Timeline(1), new SimContext());
  private final SimFabric fabric = network.open();
  private Domain domain;
  private DomainSegment segment;
  private Server server;
  private ManagedChannel channel;
  private volatile AttachResponse attached;
  private volatile GrantResponse granted;
  private volatile GetResponse value = response(12);
  private volatile boolean answersGrants = true;

  @BeforeEach
  void start() throws IOException {
    domain = fabric.openDomain(new DomainContext());
    segment = domain.grow(ValueDescriptor.memoryLength(CAPACITY));
    attached =
        AttachResponse.newBuilder()
            .setFabric(fabric.name())
            .setDomain(ByteString.copyFrom(domain.descriptor()))
            .build();
    granted =
        GrantResponse.newBuilder()
            .setLayout(MemoryService.LAYOUT)
            .setCapacity(CAPACITY)
            .setSegment(ByteString.copyFrom(segment.descriptor()))
            .build();
    server =
        InProcessServerBuilder.forName("hostile")
            .addService(SharedMemoryGrpc.bindService(this))
            .build()
            .start();
    channel = InProcessChannelBuilder.forName("hostile").build();
  }

  @AfterEach
  void end() throws InterruptedException {
    channel.shutdownNow();
    server.shutdownNow();
    server.awaitTermination();
  }

  private static GetResponse response(long version) {
    return GetResponse.newBuilder()
        .setVersion(version)
        .setValue(ByteString.copyFrom(new byte[] {(byte) version, 0, 0, 0, 0, 0, 0, 0}))
        .build();
  }

  @Override
  public void attach(AttachRequest request, StreamObserver<AttachResponse> responses) {
    try {
      domain.admit(fabric.hint(), request.getToken().toByteArray());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    responses.onNext(attached);
    responses.onNext(attached); // a second answer means nothing
  }

  @Override
  public void grant(GrantRequest request, StreamObserver<GrantResponse> responses) {
    if (answersGrants) {
      responses.onNext(granted);
      responses.onCompleted();
    }
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    responses.onNext(value);
    responses.onCompleted();
  }

  private Memory connect() {
    return Memory.connect(channel, new MemoryContext(), List.of(network.open()));
  }

  private void write(long version) {
    final ValueWriter writer = new ValueWriter(segment.region(), CAPACITY, version - 1);
    Words.CODEC.encode(new Words(version, 1), writer.buffer());
    writer.write();
    segment.region().fullFence();
  }

  @Test
  void memoryThatGoesBackIsNotRead() {
    write(11);
    try (Memory memory = connect()) {
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      final RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      assertEquals(new Versioned<>(new Words(11, 1), 11), remote.get());
      assertEquals(1, remote.directReads());
      write(6);
      assertEquals(new Versioned<>(new Words(12, 1), 12), remote.get(), "by a call");
      value = response(7);
      final StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, remote::get);
      assertEquals(Status.Code.FAILED_PRECONDITION, thrown.getStatus().getCode());
      assertTrue(thrown.getMessage().contains("version=7 seen=12"), thrown.getMessage());
      assertEquals(1, remote.directReads());
    }
  }

  /** After a restart: it is not asked for another grant for each read. */
  @Test
  void ownerThatHasSetNoValueIsRead() {
    write(11);
    try (Memory memory = connect()) {
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      final RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      assertEquals(11, remote.get().version());
      segment.region().putLongRelease(ValueDescriptor.VERSION_OFFSET, 0);
      segment.region().fullFence();
      assertEquals(new Versioned<>(null, 0), remote.get());
      assertEquals(2, remote.directReads(), remote.obstacle()::toString);
    }
  }

  /** Each loss asks for another grant, which costs no mapping more. */
  @Test
  void memoryThatWasLostIsDetached() {
    final List<String> calls = new ArrayList<>();
    final Fabric counted = AttachedDomainTest.counted(Fabric.class, network.open(), calls);
    write(11);
    try (Memory memory = Memory.connect(channel, new MemoryContext(), List.of(counted))) {
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      final RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      assertEquals(11, remote.get().version());
      assertEquals(0, Collections.frequency(calls, "detach"));
      write(6);
      assertEquals(12, remote.get().version(), "by a call");
      assertEquals(1, Collections.frequency(calls, "detach"));
    }
  }

  /** A channel that cannot begin a call leaves no attempt behind that would never end. */
  @Test
  void attachmentThatCannotBeginIsTriedAgain() {
    write(11);
    final AtomicInteger failures = new AtomicInteger(3);
    final ClientInterceptor failing =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            if (failures.getAndDecrement() > 0) {
              throw new IllegalStateException("no call now");
            }
            return next.newCall(method, options);
          }
        };
    try (Memory memory =
        Memory.connect(
            ClientInterceptors.intercept(channel, failing),
            new MemoryContext(),
            List.of(network.open()))) {
      assertEquals(
          "cannot attach: java.lang.IllegalStateException: no call now",
          memory.obstacle().orElseThrow());
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      assertEquals(11, memory.value("ibm", Words.CODEC).get().version());
    }
  }

  /** The caller gets them, and the client attaches all the same. */
  @Test
  void errorsWhileItAttachesEndTheAttempt() throws Exception {
    write(11);
    final AtomicInteger attempts = new AtomicInteger();
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger cancellations = new AtomicInteger();
    final ClientInterceptor failing =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            if (attempts.incrementAndGet() == 1) { // before there is a client
              throw new IllegalStateException("no call now");
            }
            if (attempts.get() == 2) {
              throw new LinkageError("no call");
            }
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
              @Override
              public void cancel(String message, Throwable cause) {
                cancellations.incrementAndGet();
                super.cancel(message, cause);
              }
            };
          }
        };
    final Fabric fabric =
        AttachedDomainTest.seen(
            Fabric.class,
            network.open(),
            (method, arguments) -> {
              if (method.equals("connectDomain") && connections.incrementAndGet() == 1) {
                throw new LinkageError("no connection");
              }
            });
    try (Memory memory =
        Memory.connect(
            ClientInterceptors.intercept(channel, failing), new MemoryContext(), List.of(fabric))) {
      final Duration limit = Duration.ofSeconds(30);
      assertEquals(
          "no call",
          assertThrows(LinkageError.class, () -> memory.awaitAttached(limit)).getMessage());
      assertEquals("cannot attach: an error", memory.obstacle().orElseThrow());
      assertEquals(
          "no connection",
          assertThrows(LinkageError.class, () -> memory.awaitAttached(limit)).getMessage());
      assertEquals("an error", memory.obstacle().orElseThrow());
      assertEquals(1, cancellations.get());
      while (!memory.awaitAttached(limit)) {
        Thread.sleep(1);
      }
      assertEquals(11, memory.value("ibm", Words.CODEC).get().version());
    }
  }

  /** A client that is closed while it begins to attach leaves no stream behind. */
  @Test
  void closedWhileItAttaches() {
    final AtomicReference<Memory> memory = new AtomicReference<>();
    final AtomicInteger attempts = new AtomicInteger();
    final AtomicBoolean isCancelled = new AtomicBoolean();
    final ClientInterceptor closing =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            if (attempts.incrementAndGet() == 1) {
              throw new IllegalStateException("no call now");
            }
            assertFalse(Thread.holdsLock(memory.get().attachment()), "gRPC calls back");
            memory.get().close();
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
              @Override
              public void cancel(String message, Throwable cause) {
                isCancelled.set(true);
                super.cancel(message, cause);
              }
            };
          }
        };
    memory.set(
        Memory.connect(
            ClientInterceptors.intercept(channel, closing),
            new MemoryContext(),
            List.of(network.open())));
    assertFalse(memory.get().awaitAttached(Duration.ofSeconds(30)));
    assertEquals(2, attempts.get());
    assertEquals("closed", memory.get().obstacle().orElseThrow());
    assertTrue(isCancelled.get(), "the stream goes on");
  }

  /** Neither the grant nor the spin time makes a wait longer than it was asked to be. */
  @Test
  void shortWaitsAreShort() {
    write(11);
    answersGrants = false;
    final MemoryContext context = new MemoryContext().spinTime(Duration.ofSeconds(50));
    try (Memory memory = Memory.connect(channel, context, List.of(network.open()))) {
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      final RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      final Duration shortly = Duration.ofMillis(20);
      final long startNs = System.nanoTime();
      assertEquals(Optional.empty(), remote.awaitAfter(11, shortly));
      assertEquals("the grant has taken too long", remote.obstacle().orElseThrow());
      answersGrants = true;
      assertEquals(11, remote.get().version());
      assertEquals(1, remote.directReads(), "the next read asks at once");
      value = response(11); // the owner answers at once, as if it were a later one
      remote.awaitAfter(11, shortly);
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(9));
    }
  }

  private void assertByCalls(String obstacle) {
    try (Memory memory = connect()) {
      memory.awaitAttached(Duration.ofSeconds(30));
      final RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      assertEquals(12, remote.get().version());
      assertEquals(0, remote.directReads());
      assertTrue(remote.obstacle().orElseThrow().contains(obstacle), remote.obstacle()::toString);
    }
  }

  @Test
  void malformedGrantsLeaveCalls() {
    write(11);
    final GrantResponse good = granted;
    granted = good.toBuilder().setLayout(2).build();
    assertByCalls("version=2");
    for (final int capacity : new int[] {0, -1, Integer.MIN_VALUE, (1 << 20) + 1}) {
      granted = good.toBuilder().setCapacity(capacity).build();
      assertByCalls("capacity=" + capacity);
    }
    granted = good.toBuilder().setCapacity(CAPACITY + 64).build();
    assertByCalls("another length");
    granted = good.toBuilder().setSegment(ByteString.copyFromUtf8("nonsense")).build();
    assertByCalls("");
    final AttachResponse right = attached;
    attached = right.toBuilder().setFabric("other").build();
    assertByCalls("fabric=other");
    attached = right.toBuilder().setDomain(ByteString.copyFromUtf8("nonsense")).build();
    assertByCalls("");
  }

  @Test
  void bytesThatNoCodecWritesAreDataLoss() {
    final ValueWriter writer = new ValueWriter(segment.region(), CAPACITY, 20);
    writer.buffer().put((byte) 1);
    writer.write();
    segment.region().fullFence();
    final Codec<Long> codec =
        new Codec<>() {
          @Override
          public void encode(Long number, ByteBuffer buffer) {
            buffer.putLong(number);
          }

          @Override
          public Long decode(ByteBuffer buffer) {
            return buffer.getLong();
          }
        };
    try (Memory memory = connect()) {
      assertTrue(memory.awaitAttached(Duration.ofSeconds(30)));
      final RemoteValue<Long> remote = memory.value("ibm", codec);
      final StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, remote::get);
      assertEquals(Status.Code.DATA_LOSS, thrown.getStatus().getCode());
      assertTrue(thrown.getMessage().contains("name=ibm length=1"), thrown.getMessage());
    }
  }
}

package dev.ringfetch.memory;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.memory.v1.AddRequest;
import dev.ringfetch.memory.v1.AddResponse;
import dev.ringfetch.memory.v1.AttachRequest;
import dev.ringfetch.memory.v1.AttachResponse;
import dev.ringfetch.memory.v1.GetRequest;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.memory.v1.GrantRequest;
import dev.ringfetch.memory.v1.GrantResponse;
import dev.ringfetch.memory.v1.LockRequest;
import dev.ringfetch.memory.v1.LockResponse;
import dev.ringfetch.memory.v1.Place;
import dev.ringfetch.memory.v1.PollRequest;
import dev.ringfetch.memory.v1.PollResponse;
import dev.ringfetch.memory.v1.SharedMemoryGrpc;
import dev.ringfetch.rpc.MalformedRequests;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.net.SocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The service of an owner's names: admits clients to memory and grants them names, and serves those
 * that read by calls.
 *
 * <p>Safe for use by many threads.
 */
final class MemoryService implements SharedMemoryGrpc.AsyncService, AutoCloseable {
  /** Version of {@link ValueDescriptor} and {@link BroadcastDescriptor}. */
  static final int LAYOUT = 1;

  private final Regions regions;
  private final Admissions admissions;
  private final Set<ClientHold> holds = ConcurrentHashMap.newKeySet(); // calls for locks
  private volatile boolean closed;

  MemoryService(Regions regions, OwnerMemory memory, Predicate<String> plaintextFabrics) {
    this.regions = regions;
    this.admissions = new Admissions(memory, plaintextFabrics);
  }

  /** The service as a server serves it. */
  ServerServiceDefinition definition() {
    return ServerInterceptors.intercept(
        MalformedRequests.refusedBy(SharedMemoryGrpc.bindService(this)),
        new Admissions.CallerInterceptor());
  }

  @Override
  public void attach(AttachRequest request, StreamObserver<AttachResponse> responses) {
    final ServerCallStreamObserver<AttachResponse> stream =
        (ServerCallStreamObserver<AttachResponse>) responses;
    final ByteString token = request.getToken();
    stream.setOnCancelHandler(() -> admissions.release(token, stream));
    try {
      final OwnerMemory.Shown shown = admissions.admit(request, stream);
      stream.onNext(
          AttachResponse.newBuilder()
              .setFabric(shown.fabric().name())
              .setDomain(ByteString.copyFrom(shown.domain().descriptor()))
              .build());
      if (stream.isCancelled()) { // perhaps before the client was admitted
        admissions.release(token, stream);
      }
    } catch (StatusRuntimeException e) {
      stream.onError(e);
    }
  }

  @Override
  public void grant(GrantRequest request, StreamObserver<GrantResponse> responses) {
    try {
      final OwnerMemory.Shown shown = admissions.domain(request.getToken());
      final OwnerMemory.Region region;
      final int capacity;
      long owner = 0;
      switch (request.getKind()) {
        case VALUE -> {
          final OwnedValue<?> value = regions.find(request.getName(), OwnedValue.class);
          region = value.region();
          capacity = value.maxLength();
        }
        case BROADCAST -> {
          final Broadcast<?> broadcast = regions.find(request.getName(), Broadcast.class);
          region = broadcast.region();
          capacity = broadcast.ringLength();
          owner = broadcast.number();
        }
        default ->
            throw Status.INVALID_ARGUMENT
                .withDescription("kind is unknown: kind=" + request.getKindValue())
                .asRuntimeException();
      }
      final DomainSegment segment = region.segment(shown.domain());
      if (segment == null) {
        throw Status.FAILED_PRECONDITION
            .withDescription(
                "the name's memory is not on this fabric: name="
                    + request.getName()
                    + " fabric="
                    + shown.fabric().name())
            .asRuntimeException();
      }
      answer(
          responses,
          GrantResponse.newBuilder()
              .setSegment(ByteString.copyFrom(segment.descriptor()))
              .setLayout(LAYOUT)
              .setCapacity(capacity)
              .setOwner(owner)
              .build());
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    try {
      final OwnedValue<?> value = regions.find(request.getName(), OwnedValue.class);
      final GetResponse response = value.read();
      if (!request.hasAfter() || response.getVersion() > request.getAfter()) {
        answer(responses, response);
      } else {
        new WaitingGet(value, request.getAfter(), responses).start();
      }
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  /** A call that waits for a value after a version. */
  private static final class WaitingGet implements OwnedValue.Waiter {
    private final OwnedValue<?> value;
    private final long after;
    private final ServerCallStreamObserver<GetResponse> call;
    private final @Nullable SocketAddress connection = Admissions.connection();

    WaitingGet(OwnedValue<?> value, long after, StreamObserver<GetResponse> responses) {
      this.value = value;
      this.after = after;
      this.call = (ServerCallStreamObserver<GetResponse>) responses;
    }

    void start() {
      call.setOnCancelHandler(() -> value.forget(this));
      value.await(this);
      if (call.isCancelled()) { // perhaps before it waited
        value.forget(this);
      }
    }

    @Override
    public @Nullable SocketAddress connection() {
      return connection;
    }

    @Override
    public long after() {
      return after;
    }

    @Override
    public void answer(GetResponse response) {
      MemoryService.answer(call, response);
    }

    @Override
    public void refuse(StatusRuntimeException reason) {
      call.onError(reason);
    }
  }

  @Override
  public void poll(PollRequest request, StreamObserver<PollResponse> responses) {
    try {
      final Broadcast<?> broadcast = regions.find(request.getName(), Broadcast.class);
      answer(responses, poll(request, broadcast));
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  private static PollResponse poll(PollRequest request, Broadcast<?> broadcast) {
    final BroadcastCursor cursor = new BroadcastCursor(broadcast.ringLength());
    final PollResponse.Builder response = PollResponse.newBuilder();
    try {
      if (request.hasPlace()) {
        move(cursor, request.getPlace(), broadcast);
        response.setLost(broadcast.region().read(cursor::fill));
        while (cursor.next()) {
          response.addMessages(ByteString.copyFrom(cursor.message()));
        }
      } else {
        broadcast.region().read(cursor::moveToEnd);
      }
    } catch (MalformedMemoryException e) { // the owner's memory is not: the place is
      throw Status.INVALID_ARGUMENT
          .withDescription("no message is at this place: " + e.getMessage())
          .asRuntimeException();
    }
    return response
        .setNext(
            Place.newBuilder()
                .setOwner(broadcast.number())
                .setPosition(cursor.position())
                .setSequence(cursor.sequence()))
        .build();
  }

  private static void move(BroadcastCursor cursor, Place place, Broadcast<?> broadcast)
      throws MalformedMemoryException {
    if (place.getOwner() != broadcast.number()) {
      throw Status.ABORTED
          .withDescription(
              "the broadcast is another one: begin again with fromLatest(): name="
                  + broadcast.name())
          .asRuntimeException();
    }
    if (!BroadcastCursor.isPosition(place.getPosition())) {
      throw new MalformedMemoryException("position=" + place.getPosition());
    }
    cursor.move(place.getPosition(), place.getSequence());
  }

  @Override
  public void add(AddRequest request, StreamObserver<AddResponse> responses) {
    try {
      final Counter counter = regions.find(request.getName(), Counter.class);
      answer(responses, AddResponse.newBuilder().setSum(counter.add(request.getDelta())).build());
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  @Override
  public StreamObserver<LockRequest> lock(StreamObserver<LockResponse> responses) {
    final ClientHold hold =
        new ClientHold(regions, holds, (ServerCallStreamObserver<LockResponse>) responses);
    if (closed) { // closing may have overlooked it
      hold.fail(ended());
    }
    return hold;
  }

  private static StatusRuntimeException ended() {
    return Status.UNAVAILABLE.withDescription("the owner has ended").asRuntimeException();
  }

  private static <T> void answer(StreamObserver<T> responses, T response) {
    responses.onNext(response);
    responses.onCompleted();
  }

  @Override
  public void close() {
    closed = true;
    holds.forEach(hold -> hold.fail(ended()));
    admissions.close();
  }
}

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
import java.util.function.Predicate;

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
              .setOwner(regions.owner())
              .build());
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    try {
      final OwnedValue<?> value = regions.find(request.getName(), OwnedValue.class);
      final GetResponse response = read(value);
      if (!request.hasAfter() || response.getVersion() > request.getAfter()) {
        answer(responses, response);
      } else {
        new WaitingGet(value, request.getAfter(), responses).start();
      }
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  private static GetResponse read(OwnedValue<?> value) {
    final ValueImage image = new ValueImage(value.maxLength());
    try {
      if (!read(value.region(), image)) {
        throw Status.UNAVAILABLE
            .withDescription("value is set too often to be read: name=" + value.name())
            .asRuntimeException();
      }
    } catch (LostMemoryException e) {
      throw Regions.notFound(value.name());
    }
    return GetResponse.newBuilder()
        .setVersion(image.version())
        .setValue(image.version() == 0 ? ByteString.EMPTY : ByteString.copyFrom(image.value()))
        .build();
  }

  private static boolean read(OwnerMemory.Region region, ValueImage image)
      throws LostMemoryException {
    synchronized (region) {
      return image.read(region.reads());
    }
  }

  /** A call that waits for a value after a version. */
  private static final class WaitingGet implements OwnedValue.Waiter {
    private final OwnedValue<?> value;
    private final long after;
    private final ServerCallStreamObserver<GetResponse> call;

    WaitingGet(OwnedValue<?> value, long after, StreamObserver<GetResponse> responses) {
      this.value = value;
      this.after = after;
      this.call = (ServerCallStreamObserver<GetResponse>) responses;
    }

    void start() {
      call.setOnCancelHandler(() -> value.forget(this));
      if (!value.await(this)) {
        throw Status.RESOURCE_EXHAUSTED
            .withDescription("too many calls wait: name=" + value.name())
            .asRuntimeException();
      }
      try {
        if (call.isCancelled()) { // perhaps before it waited
          value.forget(this);
        } else if (read(value).getVersion() > after) { // set before the writer saw this
          value.wake();
        }
      } catch (StatusRuntimeException e) {
        if (value.forget(this)) { // else it was answered
          throw e;
        }
      }
    }

    @Override
    public long after() {
      return after;
    }

    @Override
    public void wake() {
      try {
        answer(call, read(value));
      } catch (StatusRuntimeException e) {
        call.onError(e);
      }
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

  private PollResponse poll(PollRequest request, Broadcast<?> broadcast) {
    final BroadcastCursor cursor = new BroadcastCursor(broadcast.ringLength());
    final PollResponse.Builder response = PollResponse.newBuilder();
    try {
      if (request.hasPlace()) {
        move(cursor, request.getPlace());
        fill(broadcast.region(), cursor, response);
        while (cursor.next()) {
          response.addMessages(ByteString.copyFrom(cursor.message()));
        }
      } else {
        synchronized (broadcast.region()) {
          cursor.moveToEnd(broadcast.region().reads());
        }
      }
    } catch (LostMemoryException e) {
      throw Regions.notFound(broadcast.name());
    } catch (MalformedMemoryException e) { // the owner's memory is not: the place is
      throw Status.INVALID_ARGUMENT
          .withDescription("no message is at this place: " + e.getMessage())
          .asRuntimeException();
    }
    return response
        .setNext(
            Place.newBuilder()
                .setOwner(regions.owner())
                .setPosition(cursor.position())
                .setSequence(cursor.sequence()))
        .build();
  }

  private void move(BroadcastCursor cursor, Place place) throws MalformedMemoryException {
    if (place.getOwner() != regions.owner()) {
      throw Status.ABORTED
          .withDescription("the broadcast has another owner: begin again with fromLatest()")
          .asRuntimeException();
    }
    if (!cursor.isPosition(place.getPosition())) {
      throw new MalformedMemoryException("position=" + place.getPosition());
    }
    cursor.move(place.getPosition(), place.getSequence());
  }

  private static void fill(
      OwnerMemory.Region region, BroadcastCursor cursor, PollResponse.Builder response)
      throws LostMemoryException, MalformedMemoryException {
    synchronized (region) {
      response.setLost(cursor.fill(region.reads()));
    }
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
    return new ClientHold(regions, (ServerCallStreamObserver<LockResponse>) responses);
  }

  private static <T> void answer(StreamObserver<T> responses, T response) {
    responses.onNext(response);
    responses.onCompleted();
  }

  @Override
  public void close() {
    admissions.close();
  }
}

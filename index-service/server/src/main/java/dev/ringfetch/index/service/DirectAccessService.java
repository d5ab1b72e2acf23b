package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.call.WriteCall;
import dev.ringfetch.index.grant.ConnectionGrants;
import dev.ringfetch.index.grant.NodeGates;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.host.SharedMemory;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.OrderedLocation;
import dev.ringfetch.index.layout.StoreDescriptor;
import dev.ringfetch.index.node.CatchUp;
import dev.ringfetch.index.rights.Grantee;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateRequest;
import dev.ringfetch.index.v1.GateResponse;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ReleaseRequest;
import dev.ringfetch.index.v1.ReleaseResponse;
import dev.ringfetch.rpc.MalformedRequests;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.BindableService;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The DirectAccess service: grants clients to read index memory, each for as long as its connection
 * lasts. A grant whose call ends without an answer is released at once.
 *
 * <p>What it refuses ends in FAILED_PRECONDITION, with the reason: where calls to the indexes pass
 * interceptors, which direct reads do not, unless {@link Mode#ALWAYS} says otherwise; on an
 * encrypted connection, unless the server's plaintext fabrics include the one of the memory; and
 * where client and memory do not meet.
 *
 * <p>Safe for use by many threads.
 */
public final class DirectAccessService implements BindableService, DirectAccessGrpc.AsyncService {
  /** When direct reads are granted. */
  public enum Mode {
    /**
     * Unless calls to the indexes pass interceptors: those of the server, of the process, or those
     * that the Index service was wrapped in before it was added. So is every Index service whose
     * handlers are not those of an {@link IndexService} over the same indexes.
     */
    UNLESS_INTERCEPTED,
    /** Also where there are interceptors, which see the call for the grant, but no read. */
    ALWAYS,
    /** Never. */
    NEVER
  }

  private static final int TOKEN_LENGTH = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** The connection of a call, and whether it is encrypted. */
  private record Caller(ConnectionGrants grants, boolean encrypted) {}

  private static final Context.Key<Caller> CALLER = Context.key("ringfetch-grants-caller");

  private final Indexes indexes;
  private final Mode mode;
  private final BooleanSupplier intercepted;
  private final Predicate<String> plaintextFabrics;

  private DirectAccessService(
      Indexes indexes, Mode mode, BooleanSupplier intercepted, Predicate<String> plaintextFabrics) {
    this.indexes = indexes;
    this.mode = mode;
    this.intercepted = intercepted;
    this.plaintextFabrics = plaintextFabrics;
  }

  /** Adds the service, and the filter that it needs, to a server with rings. */
  public static void addTo(RingServerBuilder builder, Indexes indexes, Mode mode) {
    final DirectAccessService service =
        new DirectAccessService(
            indexes,
            mode,
            () -> builder.hasInterceptors() || !indexes.areServedPlainly(builder.services()),
            builder::allowsPlaintext);
    builder
        .addService(ServerInterceptors.intercept(service, new CallerInterceptor()))
        .addTransportFilter(new ConnectionGrants.Filter());
  }

  @Override
  public ServerServiceDefinition bindService() {
    return indexes.guarded(MalformedRequests.refusedBy(DirectAccessGrpc.bindService(this)));
  }

  @Override
  public void grant(GrantRequest request, StreamObserver<GrantResponse> responses) {
    try {
      RequestLimits.checkIndexName(request.getIndex());
      indexes.checkStarted();
      if (indexes.find(request.getIndex()) == null) {
        refuse(request.getIndex(), responses);
        return;
      }
      final Caller caller = CALLER.get();
      final GrantResponse response = grant(request, caller);
      final ByteString token = response.getToken();
      if (token.isEmpty()) {
        WriteCall.answer(responses, response);
        return;
      }
      final ServerCallStreamObserver<GrantResponse> call =
          (ServerCallStreamObserver<GrantResponse>) responses;
      call.setOnCancelHandler(() -> caller.grants.release(token));
      WriteCall.answer(call, response);
      if (call.isCancelled()) { // perhaps before there was a handler
        caller.grants.release(token);
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  /** Refuses a grant of an index that this server does not lead. */
  private void refuse(String index, StreamObserver<GrantResponse> responses) {
    final String name = index.isEmpty() ? Indexes.DEFAULT_NAME : index;
    CatchUp.whenKnown(
        indexes.catalog(),
        () -> {
          indexes.catalog().checkElsewhere(name);
          return null;
        },
        none -> {
          throw notFound(name);
        },
        responses::onError);
  }

  private static StatusException notFound(String index) {
    return Status.NOT_FOUND.withDescription("no such index: index=" + index).asException();
  }

  private GrantResponse grant(GrantRequest request, Caller caller) throws StatusException {
    final ServedIndex index = indexes.find(request.getIndex());
    if (index == null) {
      throw notFound(request.getIndex());
    }
    checkMode(caller);
    final Grantee grantee = grantee();
    if (grantee != null) {
      grantee.checkReadsAll();
    }
    checkKind(request, index.kind());
    final GrantResponse.Builder response =
        location(index)
            .setKind(index.kind())
            .setPartitions(index.partitions())
            .setSegmentShift(indexes.memory().store().segmentShift())
            .setIncarnation(index.incarnation())
            .setOutlivesServer(indexes.memory().hasSuccessors() && index.leadership().isOnly())
            .setLayoutVersion(StoreDescriptor.LAYOUT_VERSION);
    if (!index.leadership().isOnly()) {
      if (!request.getLooksAtGates()) {
        throw refused("the client does not look at members' gates: read it by calls");
      }
      index.leadership().gates().describe(response);
    }
    final SharedMemory memory = admit(request, caller, response);
    response
        .setFabric(memory.fabric().name())
        .setDomain(ByteString.copyFrom(memory.domain().descriptor()));
    for (final DomainSegment segment : memory.segments()) {
      response.addSegments(ByteString.copyFrom(segment.descriptor()));
    }
    return response.build();
  }

  private static void checkKind(GrantRequest request, IndexKind kind) throws StatusException {
    final boolean readable =
        request.getKindsCount() == 0
            ? kind == IndexKind.HASH
            : request.getKindsList().contains(kind);
    if (!readable) {
      throw refused("the client reads no index of kind " + kind + " itself: read it by calls");
    }
  }

  private static GrantResponse.Builder location(ServedIndex index) {
    final GrantResponse.Builder response = GrantResponse.newBuilder();
    if (index.ordered() != null) {
      final OrderedLocation location = index.ordered().location();
      return response
          .setNumber(location.incarnation())
          .setRoot(location.root())
          .setEpoch(location.epoch());
    }
    final HashLocation location = index.hash().location();
    return response
        .setNumber(location.incarnation())
        .setRoot(location.root())
        .setEpoch(location.epoch())
        .setSeed(location.seed());
  }

  /**
   * Finds the first domain that the caller reaches, and admits it there, unless it is connected to
   * that already.
   */
  private SharedMemory admit(GrantRequest request, Caller caller, GrantResponse.Builder response)
      throws StatusException {
    StatusException first = refused("index memory is of the server's process alone");
    boolean any = false;
    for (final SharedMemory memory : indexes.memory().shared()) {
      try {
        checkEncryption(memory.fabric(), caller);
        final FabricHint hint = hint(request.getFabricsList(), memory.fabric());
        if (!request.getDomain().equals(ByteString.copyFrom(memory.domain().descriptor()))) {
          response.setToken(
              admit(memory.domain(), hint, token(request.getToken()), caller, caller.grants::add));
        }
        return memory;
      } catch (StatusException e) {
        first = any ? first : e;
        any = true;
      }
    }
    throw first;
  }

  private void checkMode(Caller caller) throws StatusException {
    if (mode == Mode.NEVER) {
      throw refused("the server grants no direct reads");
    }
    if (mode == Mode.UNLESS_INTERCEPTED && intercepted.getAsBoolean()) {
      throw refused("the server has interceptors, which direct reads would not pass");
    }
    if (caller.grants == null) {
      throw refused("the server does not see when connections end");
    }
  }

  private void checkEncryption(Fabric fabric, Caller caller) throws StatusException {
    if (caller.encrypted && !plaintextFabrics.test(fabric.name())) {
      throw refused(fabric.name() + " is plaintext, and the server keeps encrypted calls off it");
    }
  }

  private static FabricHint hint(List<FabricHint> hints, Fabric fabric) throws StatusException {
    for (final FabricHint hint : hints) {
      if (hint.getFabric().equals(fabric.name())) {
        return hint;
      }
    }
    throw refused("the client has not offered the fabric of index memory: " + fabric.name());
  }

  /** The token that the request names, or else a new one. */
  private static ByteString token(ByteString named) throws StatusException {
    if (named.isEmpty()) {
      final byte[] token = new byte[TOKEN_LENGTH];
      RANDOM.nextBytes(token);
      return ByteString.copyFrom(token);
    }
    if (named.size() != TOKEN_LENGTH) {
      throw Status.INVALID_ARGUMENT
          .withDescription("token has another length: " + named.size() + " != " + TOKEN_LENGTH)
          .asException();
    }
    return named;
  }

  private ByteString admit(
      Domain domain,
      FabricHint hint,
      ByteString token,
      Caller caller,
      BiPredicate<ByteString, DomainAdmission> grants)
      throws StatusException {
    final Grantee grantee = grantee();
    final Grantee.Admission admission;
    try {
      admission =
          new Grantee.Admission(domain.admit(hint.getHint().toByteArray(), token.toByteArray()));
    } catch (IOException e) {
      throw refused(e.getMessage());
    } catch (IllegalArgumentException e) {
      throw Status.INVALID_ARGUMENT.withDescription(e.getMessage()).withCause(e).asException();
    }
    if (!grants.test(token, admission)) {
      admission.close();
      throw refused(
          "the connection has ended, or has all grants: limit="
              + ConnectionGrants.LIMIT
              + ", of gates "
              + ConnectionGrants.GATE_LIMIT);
    }
    if (grantee != null) {
      admission.endWith(grantee, () -> caller.grants.release(token));
    }
    return token;
  }

  /** The user of the present call; null if the server has no users. */
  private @Nullable Grantee grantee() throws StatusException {
    final Grantee grantee = Grantee.current();
    if (grantee == null && indexes.rights() != null) { // no guarded call is without one
      throw Status.PERMISSION_DENIED.withDescription("a grant is a user's").asException();
    }
    return grantee;
  }

  private static StatusException refused(String reason) {
    return Status.FAILED_PRECONDITION.withDescription(reason).asException();
  }

  @Override
  public void grantGates(GateRequest request, StreamObserver<GateResponse> responses) {
    try {
      final Caller caller = CALLER.get();
      final GateResponse response = grantGates(request, caller);
      final ServerCallStreamObserver<GateResponse> call =
          (ServerCallStreamObserver<GateResponse>) responses;
      call.setOnCancelHandler(() -> caller.grants.release(request.getToken()));
      WriteCall.answer(call, response);
      if (call.isCancelled()) { // perhaps before there was a handler
        caller.grants.release(request.getToken());
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private GateResponse grantGates(GateRequest request, Caller caller) throws StatusException {
    indexes.checkStarted();
    checkMode(caller);
    final NodeGates gates = indexes.memory().nodeGates();
    final GateMember member = request.getMember();
    if (gates == null || !gates.isOf(member.getNode(), member.getIncarnation())) {
      throw refused("another process is meant: node=" + member.getNode());
    }
    final int place = gates.place(request.getGroup());
    if (place == 0) {
      throw refused("no gate of the group: group=" + request.getGroup());
    }
    StatusException obstacle = refused("the gates are of the server's process alone");
    for (final NodeGates.Shown shown : gates.shown()) {
      try {
        checkEncryption(shown.fabric(), caller);
        final FabricHint hint = hint(request.getFabricsList(), shown.fabric());
        admit(shown.domain(), hint, token(request.getToken()), caller, caller.grants::addGates);
        return GateResponse.newBuilder()
            .setFabric(shown.fabric().name())
            .setDomain(ByteString.copyFrom(shown.domain().descriptor()))
            .setSegment(ByteString.copyFrom(shown.segment().descriptor()))
            .setPlace(place)
            .setEpoch(indexes.memory().epoch())
            .build();
      } catch (StatusException e) {
        obstacle = e;
      }
    }
    throw obstacle;
  }

  @Override
  public void release(ReleaseRequest request, StreamObserver<ReleaseResponse> responses) {
    final ConnectionGrants grants = CALLER.get().grants;
    WriteCall.answer(
        responses,
        ReleaseResponse.newBuilder()
            .setExisted(grants != null && grants.release(request.getToken()))
            .build());
  }

  /** Passes on what the handlers need of a call's connection. */
  private static final class CallerInterceptor implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      final Caller caller =
          new Caller(
              ConnectionGrants.of(call.getAttributes()),
              call.getSecurityLevel() != SecurityLevel.NONE
                  || call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION) != null);
      return Contexts.interceptCall(
          Context.current().withValue(CALLER, caller), call, headers, next);
    }
  }
}

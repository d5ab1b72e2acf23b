package dev.ringfetch.index.rights;

import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;

/**
 * The guard of services: finds the user of each call, and lets requests through that the user has
 * the right for. Thread-safe.
 */
final class GuardedCalls implements ServerInterceptor {
  private static final String NODES_METHOD =
      IndexAdminGrpc.getDescribeClusterMethod().getFullMethodName();

  private final Rights rights;

  GuardedCalls(Rights rights) {
    this.rights = rights;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    final String authorization = headers.get(Credentials.AUTHORIZATION);
    if (authorization == null
        && call.getMethodDescriptor().getFullMethodName().equals(NODES_METHOD)
        && rights.isNode(call.getAttributes())) {
      return next.startCall(call, headers); // before users: a node sees all groups
    }
    final User user = rights.known(call.getAttributes(), authorization);
    if (user != null) {
      return begin(user, call, headers, next);
    }
    final Credentials shown = authorization == null ? null : Credentials.of(authorization);
    if (shown == null) {
      return refuse(
          call,
          "",
          Status.UNAUTHENTICATED.withDescription(
              authorization == null
                  ? "the call has neither a password nor the client certificate of a user"
                  : "the authorization header is not Basic, with a user and a password"));
    }
    if (!Credentials.areSecret(call.getAttributes())) {
      return refuse(
          call,
          shown.user(),
          Status.UNAUTHENTICATED.withDescription(
              "a password came from another host without TLS: change it"));
    }
    return check(shown, authorization, call, headers, next);
  }

  /** Has a password checked, and begins the call then. */
  private <Q, R> ServerCall.Listener<Q> check(
      Credentials shown,
      String authorization,
      ServerCall<Q, R> call,
      Metadata headers,
      ServerCallHandler<Q, R> next) {
    final DelayedListener<Q> delayed = new DelayedListener<>();
    final Context context = Context.current();
    final boolean isChecked =
        rights
            .passwords()
            .check(
                rights.find(shown.user()),
                shown,
                AuditLog.host(call.getAttributes()),
                call::isCancelled,
                context.wrap(() -> checked(delayed, shown, authorization, call, headers, next)));
    return isChecked
        ? delayed
        : refuse(
            call,
            shown.user(),
            Status.RESOURCE_EXHAUSTED.withDescription(
                StatusTexts.OVERLOADED + "too many passwords are to be checked"));
  }

  private <Q, R> void checked(
      DelayedListener<Q> delayed,
      Credentials shown,
      String authorization,
      ServerCall<Q, R> call,
      Metadata headers,
      ServerCallHandler<Q, R> next) {
    final User user = rights.known(call.getAttributes(), authorization);
    try {
      delayed.become(
          () ->
              user == null
                  ? refuse(
                      call,
                      shown.user(),
                      Status.UNAUTHENTICATED.withDescription("wrong user or password"))
                  : begin(user, call, headers, next));
    } catch (RuntimeException e) { // of the handler: gRPC would end the call so
      try {
        call.close(Status.UNKNOWN.withCause(e), new Metadata());
      } catch (IllegalStateException closed) {
        e.addSuppressed(closed);
      }
      throw e;
    }
  }

  /**
   * Ends a call whose user is unknown.
   *
   * @param claimed name of the user, as the caller says; it is logged if there is such a user
   */
  private <Q, R> ServerCall.Listener<Q> refuse(
      ServerCall<Q, R> call, String claimed, Status status) {
    final AuditLog audit = rights.audit();
    if (audit != null) {
      audit.add(
          rights.find(claimed) == null ? "" : claimed,
          call.getAttributes(),
          call.getMethodDescriptor().getFullMethodName(),
          "",
          status.getCode());
    }
    call.close(status, new Metadata());
    return new ServerCall.Listener<>() {};
  }

  private <Q, R> ServerCall.Listener<Q> begin(
      User user, ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    final GuardedCall<Q, R> guarded = new GuardedCall<>(rights, user, call);
    final boolean isOfGrants =
        DirectAccessGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName());
    return guarded.listener(
        isOfGrants
            ? Contexts.interceptCall(
                Context.current().withValue(Grantee.KEY, new Grantee(rights, user)),
                guarded,
                headers,
                next)
            : next.startCall(guarded, headers));
  }
}

package dev.ringfetch.index.rights;

import dev.ringfetch.index.rights.CallRules.Rule;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * A call of a user: lets its requests through if the user has the right for them. A stream whose
 * right is revoked ends in place of its next response: only the handler's threads use a call.
 */
final class GuardedCall<Q, R> extends SimpleForwardingServerCall<Q, R> {
  /** The life of a call. */
  private enum State {
    /** The handler answers it. */
    OPEN,
    /** The user of the stream has lost the right: its next response is the refusal. */
    REVOKED,
    /** It has ended with a refusal; what the handler sends is dropped. */
    REFUSED,
    /** The handler has ended it, or the client. */
    CLOSED
  }

  private final Rights rights;
  private final User user;
  private final Rule<Q, R> rule;
  private final @Nullable AuditLog audit; // null: the call is not logged, unless it is refused
  private String index = "";
  private volatile Rights.@Nullable Holding holding; // of a stream
  private volatile State state = State.OPEN; // written under the monitor

  GuardedCall(Rights rights, User user, ServerCall<Q, R> call) {
    super(call);
    this.rights = rights;
    this.user = user;
    rule = CallRules.of(call.getMethodDescriptor());
    audit = rights.audit() != null && rights.audit().covers(rule.right()) ? rights.audit() : null;
  }

  /** The listener of the call, in front of the handler's. */
  ServerCall.Listener<Q> listener(ServerCall.Listener<Q> handler) {
    return new Requests(handler);
  }

  private void admit(Q request) {
    index = rule.index(request);
    if (!rule.isAllowed(user, index)) {
      refuse();
    } else if (!getMethodDescriptor().getType().serverSendsOneMessage() && holding == null) {
      add(audit, null);
      holding =
          rights.hold(
              user,
              now -> rule.isAllowed(now, index),
              () -> advance(State.REVOKED, State.OPEN, State.OPEN));
    }
  }

  /** Enters a state from one of two. Returns whether it does. */
  private synchronized boolean advance(State to, State from, State orFrom) {
    final boolean advances = state == from || state == orFrom;
    if (advances) {
      state = to;
    }
    return advances;
  }

  private void refuse() {
    if (advance(State.REFUSED, State.OPEN, State.REVOKED)) {
      add(rights.audit(), Status.Code.PERMISSION_DENIED);
      super.close(Rights.refusal(user, rule.right(), index), new Metadata());
      release();
    }
  }

  private void add(@Nullable AuditLog log, Status.@Nullable Code status) {
    if (log != null) {
      log.add(
          user.name(), getAttributes(), getMethodDescriptor().getFullMethodName(), index, status);
    }
  }

  private void release() {
    final Rights.Holding held = holding;
    if (held != null) {
      held.close();
    }
  }

  @Override
  public void sendHeaders(Metadata headers) {
    if (state != State.REFUSED) {
      super.sendHeaders(headers);
    }
  }

  @Override
  public void sendMessage(R message) {
    if (state == State.REVOKED) {
      refuse();
    } else if (state != State.REFUSED) {
      super.sendMessage(
          rule.visible() == null
              ? message
              : rule.visible().apply(message, name -> user.may(Right.READ, name)));
    }
  }

  @Override
  public void close(Status status, Metadata trailers) {
    if (state == State.REVOKED) {
      refuse();
    } else if (state != State.REFUSED) {
      if (advance(State.CLOSED, State.OPEN, State.REVOKED)) {
        add(audit, status.getCode());
      }
      super.close(status, trailers);
      release();
    }
  }

  @Override
  public boolean isCancelled() {
    return state == State.REFUSED || super.isCancelled();
  }

  /** The requests of the call on their way to the handler. */
  private final class Requests extends SimpleForwardingServerCallListener<Q> {
    Requests(ServerCall.Listener<Q> handler) {
      super(handler);
    }

    @Override
    public void onMessage(Q request) {
      if (state != State.REFUSED) {
        admit(request);
      }
      if (state != State.REFUSED) {
        super.onMessage(request);
      }
    }

    @Override
    public void onHalfClose() {
      if (state != State.REFUSED) {
        super.onHalfClose();
      }
    }

    @Override
    public void onReady() {
      if (state != State.REFUSED) {
        super.onReady();
      }
    }

    @Override
    public void onCancel() {
      if (advance(State.CLOSED, State.OPEN, State.REVOKED)) {
        add(audit, Status.Code.CANCELLED);
      }
      release();
      super.onCancel();
    }

    @Override
    public void onComplete() {
      if (state == State.REFUSED) {
        super.onCancel(); // the handler has not ended it
      } else {
        super.onComplete();
      }
    }
  }
}

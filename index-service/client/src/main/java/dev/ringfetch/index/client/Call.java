package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.MethodDescriptor;
import io.grpc.Status;

/**
 * A unary call to make.
 *
 * @param repeatable whether it may be made twice: it changes nothing, or the second one changes
 *     nothing more.
 * @param creating whether a missing index is created first, in the kind of the view.
 * @param numbering gives the writes of the request their numbers; null if they cannot have any.
 */
record Call<Q, R>(
    MethodDescriptor<Q, R> method,
    Q request,
    boolean repeatable,
    boolean creating,
    Numbering<Q, R> numbering) {
  /** The assignment of numbers to the writes of a request. */
  interface Numbering<Q, R> {
    /** The request with the number of its first write. */
    Q numbered(Q request, RequestNumber first);

    /** How many writes the request has. */
    default int writes() {
      return 1;
    }

    /** The status in an answer for which the call is made again; null if there is none. */
    default Status failure(R answer) {
      return null;
    }
  }

  static <Q, R> Call<Q, R> reading(MethodDescriptor<Q, R> method, Q request) {
    return new Call<>(method, request, true, false, null);
  }

  static <Q, R> Call<Q, R> unnumbered(
      MethodDescriptor<Q, R> method, Q request, boolean repeatable) {
    return new Call<>(method, request, repeatable, false, null);
  }

  static <Q, R> Call<Q, R> writing(
      MethodDescriptor<Q, R> method, Q request, boolean creating, Numbering<Q, R> numbering) {
    return new Call<>(method, request, false, creating, numbering);
  }

  /**
   * The server's answer to a write that creates no index, if there is no index. The client does not
   * send such a write: it has no incarnation to name, so it could not be repeated.
   */
  R withoutIndex() {
    final var prototype = (MethodDescriptor.PrototypeMarshaller<R>) method.getResponseMarshaller();
    return prototype.getMessagePrototype();
  }

  /** The same call with a number. */
  Call<Q, R> numbered(RequestNumber first) {
    return new Call<>(method, numbering.numbered(request, first), repeatable, creating, null);
  }
}

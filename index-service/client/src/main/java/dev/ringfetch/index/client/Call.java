package dev.ringfetch.index.client;

import io.grpc.MethodDescriptor;

/**
 * A unary call that is to be made.
 *
 * @param repeatable whether it may be made twice: it changes nothing, or the second one changes
 *     nothing more.
 */
record Call<Q, R>(MethodDescriptor<Q, R> method, Q request, boolean repeatable) {
  static <Q, R> Call<Q, R> reading(MethodDescriptor<Q, R> method, Q request) {
    return new Call<>(method, request, true);
  }

  static <Q, R> Call<Q, R> writing(MethodDescriptor<Q, R> method, Q request) {
    return new Call<>(method, request, false);
  }
}

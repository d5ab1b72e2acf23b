package dev.ringfetch.rpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;

/**
 * The binding of {@linkplain LeanHandler handlers on bytes} to unary methods of ordinary services.
 * To clients nothing changes. On a ring, a call of such a method costs neither message objects nor
 * any other object, as {@link UnaryCall} at the other end.
 *
 * <p>Example: a method of a generated service whose answer is ready as bytes. The handler declines
 * requests that it does not know, and the generated service serves these:
 *
 * <pre>{@code
 * byte[] answer = GreetResponse.newBuilder().setText("Hello").build().toByteArray();
 * ServerServiceDefinition service =
 *     Lean.replace(
 *         new GreeterService().bindService(),
 *         "Greet",
 *         (call, request, offset, length) -> {
 *           if (length != 0) {
 *             return false;
 *           }
 *           call.answer(answer, 0, answer.length);
 *           return true;
 *         });
 * Server server = RingServerBuilder.forPort(8080).addService(service).build().start();
 * }</pre>
 *
 * <p>The definition works on every server. The handler runs as part of an ordinary call, with a
 * copy of the message and the objects that gRPC needs,
 *
 * <ul>
 *   <li>over gRPC, and on servers without rings, the in-process server for example;
 *   <li>behind interceptors, whether of the server or around the definition: they see messages that
 *       are byte arrays, as with {@link ServerInterceptors#useMarshalledMessages};
 *   <li>with stream tracers, or an {@linkplain io.grpc.ServerBuilder#executor executor} or {@link
 *       io.grpc.ServerBuilder#callExecutor} of the application;
 *   <li>for requests with metadata, an authority or a compression of their own;
 *   <li>for the first calls, at low rates, and after runs that took long: the polling thread runs
 *       it only where it would run any short handler ({@link
 *       RingServerBuilder#inlineHandlers(boolean)}), or all handlers ({@link
 *       RingServerBuilder#directExecutor}).
 * </ul>
 */
@Experimental
public final class Lean {
  private Lean() {}

  /**
   * Returns the service with a handler on bytes for one of its methods.
   *
   * @param service with the method; its handler of the method serves the calls that the new one
   *     declines.
   * @param method name of the method, without the service's.
   * @param handler of its calls, for all threads at once.
   * @throws IllegalArgumentException if the service has no such method, or it is not unary.
   */
  public static ServerServiceDefinition replace(
      ServerServiceDefinition service, String method, LeanHandler handler) {
    final ServiceDescriptor before = service.getServiceDescriptor();
    final String fullName = MethodDescriptor.generateFullMethodName(before.getName(), method);
    final ServerMethodDefinition<?, ?> replaced = service.getMethod(fullName);
    if (replaced == null || replaced.getMethodDescriptor().getType() != MethodType.UNARY) {
      throw new IllegalArgumentException(
          (replaced == null ? "no such method" : "not a unary method") + ": method=" + fullName);
    }
    final LeanMethod lean = new LeanMethod(replaced, onBytes(service, fullName), handler);
    final ServiceDescriptor.Builder descriptor =
        ServiceDescriptor.newBuilder(before.getName())
            .setSchemaDescriptor(before.getSchemaDescriptor());
    for (final MethodDescriptor<?, ?> each : before.getMethods()) {
      final boolean isReplaced = each.getFullMethodName().equals(fullName);
      descriptor.addMethod(isReplaced ? lean.definition().getMethodDescriptor() : each);
    }
    final ServerServiceDefinition.Builder definition =
        ServerServiceDefinition.builder(descriptor.build()).addMethod(lean.definition());
    for (final ServerMethodDefinition<?, ?> each : service.getMethods()) {
      if (each != replaced) {
        definition.addMethod(each);
      }
    }
    return definition.build();
  }

  /** The method as it was, with byte arrays as messages. */
  @SuppressWarnings("unchecked") // the marshaller says of what type the messages are
  private static ServerMethodDefinition<byte[], byte[]> onBytes(
      ServerServiceDefinition service, String fullName) {
    return (ServerMethodDefinition<byte[], byte[]>)
        ServerInterceptors.useMarshalledMessages(service, ByteMessages.INSTANCE)
            .getMethod(fullName);
  }
}

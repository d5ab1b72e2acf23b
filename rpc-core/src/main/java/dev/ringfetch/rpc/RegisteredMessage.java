package dev.ringfetch.rpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import com.google.protobuf.WireFormat;
import dev.ringfetch.call.RegisteredInput;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * A message with its long part in a {@link RegisteredBuffer}: the receiver sees an ordinary message
 * of its method. A method that sends such messages is a generated one with another marshaller:
 *
 * <pre>{@code
 * MethodDescriptor<RegisteredMessage, PutResponse> put =
 *     RegisteredMessage.requests(StoreGrpc.getPutMethod());
 * try (RegisteredBuffer data = channel.allocator().allocate(1 << 20)) {
 *   fill(data.buffer());
 *   RegisteredMessage request =
 *       RegisteredMessage.of(
 *           PutRequest.newBuilder().setKey(key).build(), PutRequest.DATA_FIELD_NUMBER, data);
 *   ClientCalls.blockingUnaryCall(channel, put, CallOptions.DEFAULT, request);
 * }
 * }</pre>
 *
 * <p>(protobuf has no bytes outside of the heap: to wrap a buffer in a {@link ByteString} copies
 * it.)
 *
 * <p>Over gRPC, and on a ring of another session than the buffer's, it is copied as any message is.
 * Immutable; the buffer follows its own rules.
 */
public final class RegisteredMessage {
  private static final int MAX_TAG_AND_LENGTH = 10;

  private final byte[] head;
  private final RegisteredBuffer buffer;

  private RegisteredMessage(byte[] head, RegisteredBuffer buffer) {
    this.head = head;
    this.buffer = buffer;
  }

  /**
   * Creates a message that consists of the buffer's bytes, in the form that the receiver expects.
   */
  public static RegisteredMessage of(RegisteredBuffer buffer) {
    return new RegisteredMessage(new byte[0], buffer);
  }

  /**
   * Creates a protobuf message.
   *
   * @param rest the message without one of its fields.
   * @param fieldNumber of that field, of type {@code bytes}. It comes last, as protobuf lets
   *     fields.
   * @param bytes its value.
   */
  public static RegisteredMessage of(MessageLite rest, int fieldNumber, RegisteredBuffer bytes) {
    final byte[] head = new byte[rest.getSerializedSize() + MAX_TAG_AND_LENGTH];
    final CodedOutputStream coded = CodedOutputStream.newInstance(head);
    try {
      rest.writeTo(coded);
      coded.writeTag(fieldNumber, WireFormat.WIRETYPE_LENGTH_DELIMITED);
      coded.writeUInt32NoTag(bytes.length());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // there is room for it
    }
    return new RegisteredMessage(Arrays.copyOf(head, head.length - coded.spaceLeft()), bytes);
  }

  /** Returns the method with such messages as requests. */
  public static <RespT> MethodDescriptor<RegisteredMessage, RespT> requests(
      MethodDescriptor<?, RespT> method) {
    return method.toBuilder(new Marshaller(), method.getResponseMarshaller()).build();
  }

  /** Returns the method with such messages as responses. */
  public static <ReqT> MethodDescriptor<ReqT, RegisteredMessage> responses(
      MethodDescriptor<ReqT, ?> method) {
    return method.toBuilder(method.getRequestMarshaller(), new Marshaller()).build();
  }

  /** The message, as every transport reads it. */
  RegisteredInput stream() {
    return new RegisteredInput(head, buffer.buffer(), buffer.segment());
  }

  private static final class Marshaller implements MethodDescriptor.Marshaller<RegisteredMessage> {
    @Override
    public InputStream stream(RegisteredMessage value) {
      return value.stream();
    }

    @Override
    public RegisteredMessage parse(InputStream stream) {
      throw new UnsupportedOperationException("registered messages are sent, not received");
    }
  }
}

package dev.ringfetch.examples.dataflow;

import dev.ringfetch.rpc.BufferAllocator;
import dev.ringfetch.rpc.RegisteredBuffer;
import dev.ringfetch.rpc.RegisteredMessage;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.HasByteBuffer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The call that streams {@linkplain ColumnBatch batches} over a ring. The source puts each into a
 * registered buffer, the ring moves it with one READ, and the sink reads its columns where they
 * have arrived.
 */
final class BatchStream {
  private static final String SERVICE = "ringfetch.examples.dataflow.v1.Batches";

  private static final MethodDescriptor<Request, ColumnBatch> METHOD =
      MethodDescriptor.newBuilder(new Requests(), new Batches())
          .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Stream"))
          .build();

  /** Limit of a call, at either way. */
  static final long LIMIT_MINUTES = 5;

  private BatchStream() {}

  /**
   * Creates the source's service.
   *
   * @param blocks the encoded batches of a request.
   */
  static ServerServiceDefinition service(Function<Request, List<ByteBuffer>> blocks) {
    return ServerServiceDefinition.builder(SERVICE)
        .addMethod(
            RegisteredMessage.responses(METHOD),
            (call, headers) -> {
              call.request(1);
              return new Sending(call, blocks);
            })
        .build();
  }

  /** Makes a call, and waits for its end. The consumer must not keep the batches. */
  static void read(Channel channel, Request request, Consumer<Batch> consumer) {
    final CompletableFuture<Status> end = new CompletableFuture<>();
    final ClientCall<Request, ColumnBatch> call =
        channel.newCall(
            METHOD, CallOptions.DEFAULT.withDeadlineAfter(LIMIT_MINUTES, TimeUnit.MINUTES));
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(ColumnBatch batch) {
            consumer.accept(batch);
            call.request(1);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
    final Status status = end.join();
    if (!status.isOk()) {
      throw status.asRuntimeException();
    }
  }

  /** The source's side of a call: one batch is on its way while the next is written. */
  private static final class Sending extends ServerCall.Listener<Request> {
    private final ServerCall<Request, RegisteredMessage> call;
    private final Function<Request, List<ByteBuffer>> blocks;
    private final BufferAllocator allocator;
    private List<ByteBuffer> batches;
    private long left;
    private RegisteredBuffer last; // its bytes are on their way once the call is ready again

    Sending(
        ServerCall<Request, RegisteredMessage> call, Function<Request, List<ByteBuffer>> blocks) {
      this.call = call;
      this.blocks = blocks;
      this.allocator = call.getAttributes().get(BufferAllocator.ATTRIBUTE);
    }

    @Override
    public void onMessage(Request request) {
      if (allocator == null) {
        call.close(
            Status.FAILED_PRECONDITION.withDescription("the call is not on a ring"),
            new Metadata());
        return;
      }
      batches = blocks.apply(request);
      left = (long) batches.size() * request.passes();
      call.sendHeaders(new Metadata());
      send();
    }

    @Override
    public void onReady() {
      if (batches != null) {
        send();
      }
    }

    private void send() {
      while (left > 0 && call.isReady()) {
        release();
        final ByteBuffer block = batches.get((int) (left % batches.size()));
        last = allocator.allocate(block.remaining());
        last.buffer().put(block.duplicate());
        call.sendMessage(RegisteredMessage.of(last));
        left--;
        if (left == 0) {
          call.close(Status.OK, new Metadata());
        }
      }
    }

    @Override
    public void onComplete() {
      release();
    }

    @Override
    public void onCancel() {
      left = 0;
      release();
    }

    private void release() {
      if (last != null) {
        last.close();
        last = null;
      }
    }
  }

  private static final class Requests implements MethodDescriptor.Marshaller<Request> {
    @Override
    public InputStream stream(Request request) {
      return new ByteArrayInputStream(request.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public Request parse(InputStream stream) {
      try {
        return Request.parse(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Marshaller of the sink: a batch stays where it has arrived, until the listener returns. */
  private static final class Batches implements MethodDescriptor.Marshaller<ColumnBatch> {
    @Override
    public InputStream stream(ColumnBatch batch) {
      throw new UnsupportedOperationException("the source sends registered messages");
    }

    @Override
    public ColumnBatch parse(InputStream stream) {
      try {
        final int length = stream.available();
        if (stream instanceof HasByteBuffer arrived && arrived.byteBufferSupported()) {
          final ByteBuffer block = arrived.getByteBuffer();
          if (block.remaining() == length) {
            return new ColumnBatch(block);
          }
        }
        return new ColumnBatch(ByteBuffer.wrap(stream.readAllBytes())); // a short one, of frames
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}

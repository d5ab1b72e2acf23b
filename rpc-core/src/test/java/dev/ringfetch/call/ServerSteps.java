package dev.ringfetch.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionConnection;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** A server's session with calls on it, whose poller and executor a test drives step by step. */
final class ServerSteps {
  static final int UNIT = FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
  static final int STATUS = FrameDescriptor.SUFFIX | FrameDescriptor.DESCRIPTION;

  private static final int RING_LENGTH = 64 * 1024;

  final ServerSession session;
  final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  boolean rejecting;
  boolean outOfThreads;
  boolean outOfMemory; // even for what there is to say of it

  private final HeapFabric fabric =
      new HeapFabric(ArenaDescriptor.length(RING_LENGTH, RING_LENGTH));
  private final Poller poller;
  private final RingWriter requests;
  private final RingPoller responses;

  /** A frame of the server. */
  record Frame(int id, int flags, int code, String text) {}

  /** A session whose handlers run in the poller. */
  static ServerSteps direct(List<ServerMethodDefinition<?, ?>> methods) {
    return new ServerSteps(null, methods, DirectExecutor.INSTANCE);
  }

  ServerSteps(HandlerRegistry registry, List<ServerMethodDefinition<?, ?>> methods) {
    this(registry, methods, null);
  }

  private ServerSteps(
      HandlerRegistry registry, List<ServerMethodDefinition<?, ?>> methods, Executor executor) {
    final Geometry geometry = new Geometry(RING_LENGTH, RING_LENGTH, 8 * 1024, 256, 7, 100, 200);
    final SessionContext context = new SessionContext().spinNs(0);
    final var serverLine =
        new ControlFlyweight(fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET);
    final var clientLine =
        new ControlFlyweight(fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET);
    serverLine.consumed(geometry.requestPosition());
    clientLine.consumed(geometry.responsePosition());
    requests =
        new RingWriter(
            fabric.client(),
            ArenaDescriptor.REQUEST_RING_OFFSET,
            RING_LENGTH,
            geometry.epoch(),
            geometry.requestPosition(),
            serverLine);
    responses =
        new RingPoller(
            fabric.client(),
            ArenaDescriptor.responseRingOffset(RING_LENGTH),
            RING_LENGTH,
            geometry.epoch(),
            geometry.responsePosition(),
            clientLine);
    poller = new Poller(fabric.serverDoorbell(), context);
    session =
        new ServerSession(
            new SessionConnection(fabric.server(), geometry, poller),
            context,
            new CallAcceptor(
                new ServerCallContext(
                        methods, registry, executor == null ? this::execute : executor)
                    .limits(new ServerLimits(1024 * 1024, 8 * 1024)),
                Context.ROOT,
                new Peer(Attributes.EMPTY, null, SecurityLevel.NONE, new Metadata())),
            (ended, reason) -> {});
    session.serve();
    poll();
  }

  private synchronized void execute(Runnable task) {
    if (outOfThreads) {
      throw new OutOfMemoryError("no thread");
    }
    if (outOfMemory) {
      throw new OutOfMemoryError() {
        @Override
        public String getMessage() {
          throw new OutOfMemoryError("no text");
        }
      };
    }
    if (rejecting) {
      throw new RejectedExecutionException("shut down");
    }
    tasks.add(task);
  }

  static ServerMethodDefinition<?, ?> method(
      String name, ServerCallHandler<InputStream, InputStream> handler) {
    return method(MethodDescriptor.MethodType.UNARY, name, handler);
  }

  static ServerMethodDefinition<?, ?> method(
      MethodDescriptor.MethodType type,
      String name,
      ServerCallHandler<InputStream, InputStream> handler) {
    final MethodDescriptor<InputStream, InputStream> method =
        MethodDescriptor.<InputStream, InputStream>newBuilder()
            .setType(type)
            .setFullMethodName("steps.Steps/" + name)
            .setRequestMarshaller(new Copied())
            .setResponseMarshaller(new Copied())
            .build();
    return ServerMethodDefinition.create(method, handler);
  }

  static InputStream message(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends a request of a method of the table, and polls. */
  void request(int id, int method, String text) {
    final byte[] payload = text.getBytes(StandardCharsets.UTF_8);
    frame(id, UNIT, method, payload);
  }

  /** Sends a request that names its method, and polls. */
  void requestByName(int id, String name) {
    final byte[] text = name.getBytes(StandardCharsets.UTF_8);
    final byte[] payload = new byte[Short.BYTES + text.length];
    payload[0] = (byte) text.length;
    System.arraycopy(text, 0, payload, Short.BYTES, text.length);
    frame(id, UNIT | FrameDescriptor.NAMED, 0, payload);
  }

  /** Sends a unit, and polls. */
  void unit(int id, int flags, String text) {
    frame(id, flags, 0, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends a request and its cancel, then polls. */
  void cancelledRequest(int id, int method, String text) {
    write(id, UNIT, method, text.getBytes(StandardCharsets.UTF_8));
    cancel(id);
  }

  /** Cancels a call, and polls. */
  void cancel(int id) {
    frame(id, FrameDescriptor.CLOSE, 0, new byte[0]);
  }

  /** Sends a frame, and polls. */
  void frame(int id, int flags, int code, byte[] payload) {
    write(id, flags, code, payload);
    fabric.client().ringDoorbell();
    poll();
  }

  private void write(int id, int flags, int code, byte[] payload) {
    final int ack = (int) responses.position();
    assertEquals(
        RingWriter.WRITTEN, requests.write(id, flags, code, ack, payload, 0, payload.length));
    requests.publish();
  }

  /** Tells the server what its client's call has consumed, and polls. */
  void windowUpdate(int id, long consumed) {
    final byte[] payload = new byte[Long.BYTES];
    for (int i = 0; i < Long.BYTES; i++) {
      payload[i] = (byte) (consumed >>> (8 * i));
    }
    frame(id, FrameDescriptor.WINDOW_UPDATE, 0, payload);
  }

  /** Gives the server the room of what {@link #frames} has returned. */
  void tellConsumed() {
    responses.tellConsumed();
    fabric.client().ringDoorbell();
    poll();
  }

  /** Rounds of the server's poller, more than anything here takes. */
  void poll() {
    try {
      for (int i = 0; i < 4; i++) {
        fabric.serverDoorbell().poll();
        poller.doWork();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs what the executor was given. */
  void runTasks() {
    Runnable task;
    while ((task = next()) != null) {
      task.run();
    }
  }

  private synchronized Runnable next() {
    return tasks.poll();
  }

  /** What the server has sent since the last time. */
  List<Frame> frames() {
    poll();
    final List<Frame> frames = new ArrayList<>();
    responses.poll(
        (id, flags, code, ack, region, offset, length) -> {
          final byte[] bytes = new byte[length];
          region.getBytes(offset, bytes, 0, length);
          frames.add(new Frame(id, flags, code, new String(bytes, StandardCharsets.UTF_8)));
          return true;
        },
        1000);
    return frames;
  }

  /** Messages as they come: the sender of a response drains it. */
  private static final class Copied implements MethodDescriptor.Marshaller<InputStream> {
    @Override
    public InputStream stream(InputStream message) {
      return message;
    }

    @Override
    public InputStream parse(InputStream stream) {
      try {
        return new ByteArrayInputStream(stream.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Trailers that cannot be serialised. */
  static Metadata brokenTrailers() {
    final Metadata trailers = new Metadata();
    trailers.put(
        Metadata.Key.of(
            "bad-bin",
            new Metadata.BinaryStreamMarshaller<String>() {
              @Override
              public InputStream toStream(String value) {
                throw new IllegalStateException("test");
              }

              @Override
              public String parseStream(InputStream stream) {
                throw new UnsupportedOperationException();
              }
            }),
        "");
    return trailers;
  }
}

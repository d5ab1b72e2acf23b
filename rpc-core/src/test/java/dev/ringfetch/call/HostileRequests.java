package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ServerSteps.Frame;
import dev.ringfetch.ring.FrameDescriptor;
import io.grpc.HandlerRegistry;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A server whose requests have sections of any content: each is answered once, some way. */
final class HostileRequests {
  private static final int MAX_METADATA_LENGTH = 8 * 1024;
  private static final Map<Integer, Long> CODES = new TreeMap<>();

  private final ServerSteps steps =
      new ServerSteps(new ByFirstLetter(), List.of(ServerSteps.method("Echo", this::start)));
  private int generation;

  /** Knows some names, and throws at others. */
  private final class ByFirstLetter extends HandlerRegistry {
    @Override
    public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
      if (name.startsWith("e")) {
        return ServerSteps.method("Late", HostileRequests.this::start);
      }
      if (name.startsWith("x")) {
        throw Status.PERMISSION_DENIED.asRuntimeException();
      }
      return null;
    }
  }

  private ServerCall.Listener<InputStream> start(
      ServerCall<InputStream, InputStream> call, Metadata headers) {
    int length = 0;
    for (final byte[] part : InternalMetadata.serialize(headers)) {
      length += part.length;
    }
    assertTrue(length <= MAX_METADATA_LENGTH, "metadata beyond the limit");
    for (final String name : headers.keys()) {
      assertFalse(name == null);
    }
    call.request(2);
    return new ServerCall.Listener<>() {
      private InputStream message;

      @Override
      public void onMessage(InputStream received) {
        message = received;
      }

      @Override
      public void onHalfClose() {
        if (message == null) {
          call.close(Status.CANCELLED.withDescription("no message"), new Metadata());
          return;
        }
        call.sendHeaders(headers);
        call.sendMessage(message);
        call.close(Status.OK, headers);
      }
    };
  }

  void read(int anyFlags, int code, byte[] unit) {
    int flags = PREFIX | SUFFIX | (anyFlags & (MESSAGE | DEADLINE | METADATA | NAMED));
    if (unit.length < Long.BYTES) {
      flags &= ~DEADLINE; // its session would end
    }
    generation = (generation + 1) & 0x7FFF;
    final int id = generation << 16 | 1;
    steps.frame(id, flags, code & 1, unit);
    steps.runTasks();
    final List<Frame> frames = steps.frames();
    steps.runTasks();
    assertFalse(steps.session.hasEnded(), steps.session.endReason());
    final Frame last = frames.get(frames.size() - 1);
    for (int i = 0; i < frames.size(); i++) {
      assertEquals(id, frames.get(i).id(), "an answer to another");
      final boolean more = (frames.get(i).flags() & FrameDescriptor.PARTIAL) != 0;
      assertEquals(i < frames.size() - 1, more, "frames of one answer");
    }
    final int first = frames.get(0).flags();
    assertTrue((first & (SUFFIX | FrameDescriptor.CLOSE)) != 0, "flags=" + first);
    assertTrue(steps.frames().isEmpty(), "answered twice");
    CODES.merge(last.code(), 1L, Long::sum);
  }

  /** How often each status came. */
  static String outcomes() {
    return CODES.toString();
  }
}

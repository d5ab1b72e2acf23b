package dev.ringfetch.call;

import static dev.ringfetch.call.ServerSteps.STATUS;
import static dev.ringfetch.call.ServerSteps.UNIT;
import static dev.ringfetch.call.ServerSteps.message;
import static dev.ringfetch.call.ServerSteps.method;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ServerSteps.Frame;
import dev.ringfetch.session.Flow;
import io.grpc.Context;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a call of many messages does where no stub goes, step by step. */
@Timeout(60)
class StreamingServerCallTest {
  private static final int CHAT = 0;
  private static final int UPLOAD = 1;
  private static final int ABANDONED_LIMIT = 256;

  private final List<String> events = new ArrayList<>();
  private ServerCall<InputStream, InputStream> call;
  private Context context;
  private int asks = 10;
  private Consumer<String> onMessage = text -> {};
  private Consumer<String> inLookup = name -> {};

  private final ServerSteps steps =
      new ServerSteps(
          new HandlerRegistry() {
            @Override
            public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
              inLookup.accept(name);
              return method(MethodType.SERVER_STREAMING, "Late", (c, headers) -> start(c));
            }
          },
          List.of(
              method(MethodType.BIDI_STREAMING, "Chat", (c, headers) -> start(c)),
              method(MethodType.CLIENT_STREAMING, "Upload", (c, headers) -> start(c))));

  private ServerCall.Listener<InputStream> start(ServerCall<InputStream, InputStream> started) {
    call = started;
    context = Context.current();
    started.request(asks);
    return new ServerCall.Listener<>() {
      @Override
      public void onMessage(InputStream message) {
        final String text = text(message);
        events.add(text);
        onMessage.accept(text);
      }

      @Override
      public void onHalfClose() {
        events.add("halfClose");
      }

      @Override
      public void onCancel() {
        events.add("cancel");
      }

      @Override
      public void onComplete() {
        events.add("complete");
      }

      @Override
      public void onReady() {
        events.add("ready");
      }
    };
  }

  private static String text(InputStream message) {
    try {
      return new String(message.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void begin(int id, int method) {
    steps.frame(id, PREFIX, method, new byte[0]);
    steps.runTasks();
  }

  private void send(int id, int flags, String text) {
    steps.unit(id, flags, text);
    steps.runTasks();
  }

  private void assertStatus(int id, Status.Code code, String part) {
    final List<Frame> frames = steps.frames();
    assertEquals(1, frames.size(), frames::toString);
    final Frame frame = frames.get(0);
    assertEquals(id, frame.id());
    assertEquals(STATUS, frame.flags());
    assertEquals(code.value(), frame.code());
    assertTrue(frame.text().contains(part), frame::text);
  }

  private void assertEvents(String... expected) {
    assertEquals(List.of(expected), events);
    events.clear();
  }

  @Test
  void messagesGoBothWaysAtOnce() {
    begin(1, CHAT);
    send(1, MESSAGE, "a");
    call.sendHeaders(new Metadata());
    call.sendMessage(message("x"));
    assertEquals(
        List.of(new Frame(1, PREFIX, 0, ""), new Frame(1, MESSAGE, 0, "x")), steps.frames());
    send(1, MESSAGE | SUFFIX, "b");
    assertTrue(call.isReady());
    call.close(Status.OK, new Metadata());
    assertFalse(call.isReady());
    steps.runTasks();
    assertEquals(List.of(new Frame(1, SUFFIX, 0, "")), steps.frames());
    assertEvents("ready", "a", "b", "halfClose", "complete");
    assertTrue(context.isCancelled(), "it is over");
    assertFalse(call.isCancelled());
  }

  @Test
  void onlyWhatIsAskedForIsDelivered() {
    asks = 1;
    begin(1, CHAT);
    steps.unit(1, MESSAGE, "a");
    steps.unit(1, MESSAGE, "b");
    send(1, SUFFIX, "");
    assertEvents("ready", "a");
    call.request(0);
    steps.runTasks();
    assertEvents();
    call.request(1);
    steps.runTasks();
    assertEvents("b", "halfClose");
    assertThrows(IllegalArgumentException.class, () -> call.request(-1));
  }

  @Test
  void askingForMoreThanThereCanBeIsAskingForAll() {
    asks = Integer.MAX_VALUE;
    begin(1, CHAT);
    call.request(Integer.MAX_VALUE);
    call.request(Integer.MAX_VALUE);
    send(1, MESSAGE, "a");
    assertEvents("ready", "a");
  }

  @Test
  void nothingIsDeliveredAfterTheClose() {
    onMessage = text -> call.close(Status.ABORTED, new Metadata());
    begin(1, CHAT);
    steps.unit(1, MESSAGE, "a");
    steps.unit(1, MESSAGE, "b");
    send(1, SUFFIX, "");
    assertEvents("ready", "a", "complete");
    assertEquals(List.of(new Frame(1, SUFFIX, 10, "")), steps.frames());
  }

  @Test
  void handlerThatClosesWithTheLastMessageIsNotToldOfTheHalfClose() {
    onMessage = text -> call.close(Status.ABORTED, new Metadata());
    begin(1, CHAT);
    send(1, MESSAGE | SUFFIX, "a");
    assertEvents("ready", "a", "complete");
  }

  @Test
  void handlerThatThrowsEndsTheCall() {
    onMessage =
        text -> {
          throw new IllegalStateException("test");
        };
    begin(1, CHAT);
    steps.unit(1, MESSAGE, "a");
    send(1, MESSAGE, "b");
    assertStatus(1, Status.Code.UNKNOWN, "Application error");
    assertEvents("ready", "a", "complete");
    call.sendHeaders(new Metadata());
    call.sendMessage(message("late"));
    call.close(Status.OK, new Metadata());
    assertEquals(List.of(), steps.frames());
  }

  @Test
  void secondResponseWhereThereIsOneIsACancel() {
    begin(1, UPLOAD);
    call.sendHeaders(new Metadata());
    call.sendMessage(message("one"));
    assertEquals(List.of(), steps.frames(), "what is said once leaves with the status");
    call.sendMessage(message("two"));
    steps.runTasks();
    assertStatus(1, Status.Code.INTERNAL, "Too many responses");
    assertTrue(call.isCancelled());
    assertFalse(call.isReady());
    assertEvents("ready", "cancel");
    call.close(Status.OK, new Metadata());
    assertEquals(List.of(), steps.frames());
  }

  @Test
  void responseThatIsMissingIsACancel() {
    begin(1, UPLOAD);
    call.close(Status.OK, new Metadata());
    steps.runTasks();
    assertStatus(1, Status.Code.INTERNAL, "without a response");
    assertEvents("ready", "cancel");
  }

  @Test
  void callIsUsedInOrder() {
    begin(1, CHAT);
    assertThrows(IllegalStateException.class, () -> call.sendMessage(message("a")));
    call.sendHeaders(new Metadata());
    assertThrows(IllegalStateException.class, () -> call.sendHeaders(new Metadata()));
    call.close(Status.OK, new Metadata());
    assertThrows(IllegalStateException.class, () -> call.sendMessage(message("a")));
    assertThrows(IllegalStateException.class, () -> call.close(Status.OK, new Metadata()));
  }

  @Test
  void trailersThatCannotBeSerialisedAreAnAnswer() {
    begin(1, CHAT);
    assertThrows(
        IllegalStateException.class, () -> call.close(Status.OK, ServerSteps.brokenTrailers()));
    steps.runTasks();
    final List<Frame> frames = steps.frames();
    assertEquals(1, frames.size());
    assertEquals(Status.Code.UNKNOWN.value(), frames.get(0).code());
    assertEvents("ready", "complete");
  }

  @Test
  void messageThatCannotBeMarshalledEndsTheCall() {
    begin(1, CHAT);
    call.sendHeaders(new Metadata());
    steps.frames();
    call.sendMessage(
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("test");
          }

          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            throw new IOException("test");
          }
        });
    steps.runTasks();
    assertEquals(SUFFIX, steps.frames().get(0).flags() & SUFFIX);
    assertTrue(call.isCancelled());
    assertEvents("ready", "cancel");
  }

  @Test
  void roomIsTold() {
    begin(1, CHAT);
    assertEvents("ready");
    call.sendHeaders(new Metadata());
    steps.frames();
    int sent = 0;
    while (call.isReady()) {
      call.sendMessage(message("x".repeat(1000)));
      sent++;
    }
    assertTrue(sent * 1064 >= Flow.WINDOW_LENGTH / 2);
    steps.runTasks();
    assertEvents();
    int received = 0;
    for (int i = 0; i < 3; i++) {
      received += steps.frames().size();
      steps.tellConsumed();
    }
    steps.windowUpdate(1, received * 1064L);
    steps.frames();
    steps.runTasks();
    assertTrue(call.isReady());
    assertEvents("ready");
  }

  @Test
  void messageThatIsTooLongEndsTheCall() {
    begin(1, CHAT);
    final byte[] first = new byte[8000];
    final int length = 2 * 1024 * 1024;
    first[2] = (byte) (length >> 16);
    steps.frame(1, MESSAGE | PARTIAL, 0, first);
    assertEquals(List.of(), steps.frames());
    assertEvents("ready");
    int left = length - (first.length - 4);
    while (left > 0) {
      final int bytes = Math.min(left, 8000);
      left -= bytes;
      final int more = left > 0 ? PARTIAL : 0;
      steps.frame(1, CONTINUATION | more, 0, new byte[bytes]);
    }
    steps.runTasks();
    assertStatus(1, Status.Code.RESOURCE_EXHAUSTED, "gRPC message exceeds maximum size");
    assertEvents("cancel");
  }

  @Test
  void firstUnitThatCannotBeReadIsRefused() {
    steps.frame(1, PREFIX | METADATA, CHAT, new byte[] {9, 9, 9, 9});
    steps.runTasks();
    assertStatus(1, Status.Code.INTERNAL, "Malformed request");
    assertNull(call);
    steps.cancel(1); // crosses it
    assertEquals(List.of(), steps.frames());
  }

  @Test
  void streamingMethodThatIsKnownByNameOnly() {
    steps.requestByName(1, "steps.Steps/Late");
    steps.runTasks();
    assertEvents("ready", "", "halfClose");
    call.sendHeaders(new Metadata());
    call.sendMessage(message("x"));
    call.sendMessage(message("y"));
    call.close(Status.OK, new Metadata());
    assertEquals(List.of("", "x", "y", ""), steps.frames().stream().map(Frame::text).toList());
  }

  @Test
  void cancelWhileTheMethodIsLookedUp() {
    inLookup = name -> steps.cancel(1);
    final byte[] name = "\0\0steps.Steps/Late".getBytes(StandardCharsets.UTF_8);
    name[0] = (byte) (name.length - 2);
    steps.frame(1, PREFIX | NAMED, 0, name);
    steps.runTasks();
    assertNull(call);
    assertEquals(List.of(new Frame(1, CLOSE, 1, "")), steps.frames());
  }

  @Test
  void cancelIsToldAndNothingIsSentAfterwards() {
    begin(1, CHAT);
    steps.unit(1, MESSAGE, "a");
    steps.cancel(1);
    steps.runTasks();
    assertEvents("ready", "cancel");
    assertTrue(call.isCancelled());
    assertTrue(context.isCancelled());
    call.sendHeaders(new Metadata());
    call.sendMessage(message("late"));
    call.close(Status.OK, new Metadata());
    assertEquals(List.of(new Frame(1, CLOSE, 1, "")), steps.frames());
  }

  @Test
  void cancelledCallsLetGo() {
    for (int i = 0; i <= ABANDONED_LIMIT; i++) {
      begin(i << 16 | 1, CHAT);
      steps.cancel(i << 16 | 1);
      steps.runTasks();
      steps.frames();
      steps.tellConsumed();
    }
    assertServes();
  }

  /** Its answer waits for the window, and the task that would let go of it does not run. */
  @Test
  void cancelledCallsLetGoWithoutAnExecutor() {
    for (int i = 0; i <= ABANDONED_LIMIT; i++) {
      final int id = i << 16 | 1;
      begin(id, CHAT);
      call.sendHeaders(new Metadata());
      for (int n = 0; n <= Flow.WINDOW_LENGTH / 8064; n++) {
        call.sendMessage(message("x".repeat(8000)));
        drain();
      }
      call.sendMessage(message("waits"));
      steps.rejecting = true;
      steps.unit(id, MESSAGE, "a");
      steps.rejecting = false;
      drain();
      steps.cancel(id);
      drain();
      assertTrue(context.isCancelled());
    }
    assertServes();
  }

  private void drain() {
    steps.frames();
    steps.tellConsumed();
  }

  private void assertServes() {
    events.clear();
    begin(2, CHAT);
    send(2, MESSAGE, "a");
    assertEvents("ready", "a");
  }

  @Test
  void callsAreRefusedWithoutAnExecutor() {
    steps.rejecting = true;
    begin(1, CHAT);
    assertStatus(1, Status.Code.UNAVAILABLE, "Server executor: shut down");
    steps.frame(2, UNIT, UPLOAD, new byte[0]);
    assertStatus(2, Status.Code.UNAVAILABLE, "Server executor: shut down");
    assertEvents();
  }
}

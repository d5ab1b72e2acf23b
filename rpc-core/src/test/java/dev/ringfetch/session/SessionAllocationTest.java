package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.UNIT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.ringfetch.call.CallAcceptor;
import dev.ringfetch.call.DirectExecutor;
import dev.ringfetch.call.Peer;
import dev.ringfetch.call.ServerCallContext;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.rpc.Lean;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Sizes;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.ServerServiceDefinition;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Ring and session allocate nothing for a small call, at either end, nor does a handler's call on
 * bytes: counted in a thread that is both, to the byte. Of what shared memory allocates to verify
 * itself this memory knows nothing.
 *
 * <p>In a process of its own: behind thousands of other tests in one process JDK 25 counted 1,700
 * bytes a call, JDK 17 none. Of what, was not found: alone there are none on either.
 */
@Timeout(120)
class SessionAllocationTest {
  /** The second one leaves out objects of which it sees the end, or not, as it likes. */
  private static final String FIRST_COMPILER = "-XX:TieredStopAtLevel=1";

  private static final int WARM_UP_CALLS = 20_000; // until nothing is linked or loaded any more
  private static final int ROUNDS = 5;
  private static final int CALLS = 1_000;
  private static final int BATCH = 16;
  private static final int METHOD = 5;
  private static final int MAX_ANSWER = 1024;
  private static final long TIMEOUT_NS = 1_000_000_000;
  private static final byte[] MESSAGE = new byte[32];

  private static final MethodDescriptor<byte[], byte[]> BYTES =
      MethodDescriptor.<byte[], byte[]>newBuilder(new Nothing(), new Nothing())
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("lean.Lean/Call")
          .build();

  /** How calls are made. */
  enum Way {
    /** Pollers serve both sides. */
    POLLED {
      @Override
      void call(Calls calls) {
        calls.send(Stream.NO_DEADLINE);
        calls.serve();
      }
    },
    /** With a deadline. */
    TIMED {
      @Override
      void call(Calls calls) {
        calls.send(TIMEOUT_NS);
        calls.serve();
      }
    },
    /** The caller polls; the server has its turn whenever that looks at the clock. */
    POLLING {
      @Override
      void call(Calls calls) {
        calls.sendAndPoll();
      }
    },
    /** Each is told in the round that answers all. */
    BATCHED {
      @Override
      void call(Calls calls) {
        for (int i = 0; i < BATCH; i++) {
          calls.send(Stream.NO_DEADLINE);
        }
        calls.serve();
      }
    },
    /** A handler on bytes serves them, each with a deadline. */
    LEAN {
      @Override
      void call(Calls calls) {
        calls.serveLean();
        calls.send(TIMEOUT_NS);
        calls.serve();
      }
    },
    /** A kilobyte more than nothing: what counts, counts. */
    WASTEFUL {
      @Override
      void call(Calls calls) {
        calls.wasted = new byte[1000];
      }
    };

    abstract void call(Calls calls);
  }

  @ParameterizedTest
  @EnumSource
  void bytesOfACall(Way way) throws Exception {
    final String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    final String classPath = System.getProperty("java.class.path");
    final String main = SessionAllocationTest.class.getName();
    final Process process =
        new ProcessBuilder(List.of(java, FIRST_COMPILER, "-ea", "-cp", classPath, main, way.name()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      final byte[] said = process.getInputStream().readAllBytes();
      assertEquals(0, process.waitFor());
      final String expected = way == Way.WASTEFUL ? "1016" : "0";
      assertEquals(expected, new String(said, StandardCharsets.UTF_8).strip(), "bytes of a call");
    } finally {
      process.destroyForcibly();
    }
  }

  /** Prints the bytes of a call: the least of some rounds, as what is linked once is of one. */
  public static void main(String[] args) {
    final Way way = Way.valueOf(args[0]);
    final Calls calls = new Calls();
    final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < WARM_UP_CALLS; i++) {
      way.call(calls);
    }
    double least = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      final long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < CALLS; i++) {
        way.call(calls);
      }
      least = Math.min(least, (double) (threads.getCurrentThreadAllocatedBytes() - before) / CALLS);
    }
    if (calls.answered != calls.sent) {
      throw new IllegalStateException("sent=" + calls.sent + " answered=" + calls.answered);
    }
    System.out.println(
        least == (long) least ? Long.toString((long) least) : Double.toString(least));
  }

  /** Messages that no method reads. */
  private static final class Nothing implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      throw new UnsupportedOperationException();
    }

    @Override
    public byte[] parse(InputStream stream) {
      throw new UnsupportedOperationException();
    }
  }

  /** Makes calls, and answers them. */
  private static final class Calls implements ClientStream.Listener {
    private final SessionSteps steps = new SessionSteps(Sizes.ROOMY, 1_000_000);
    private final Runnable onClock = this::serveOnce;

    @SuppressWarnings("unused") // where what is wasted escapes to
    private byte[] wasted;

    private CallAcceptor acceptor;
    private boolean serving;
    private int sent;
    private int answered;

    Calls() {
      steps.onStream =
          stream -> {
            stream.outbound().addBytes(MESSAGE, 0, MESSAGE.length);
            steps.server.respond(stream, UNIT, 0, true);
          };
    }

    /** From now on a handler on bytes has the requests. */
    void serveLean() {
      if (acceptor == null) {
        acceptor = acceptor();
        steps.onStream = stream -> acceptor.onRequest(steps.server, stream);
      }
    }

    private static CallAcceptor acceptor() {
      final ServerServiceDefinition service =
          Lean.replace(
              ServerServiceDefinition.builder("lean.Lean")
                  .addMethod(BYTES, (call, headers) -> null)
                  .build(),
              "Call",
              (call, request, offset, length) -> {
                if (call.isCancelled() || call.remainingNs() > TIMEOUT_NS) {
                  throw new IllegalStateException("remaining=" + call.remainingNs());
                }
                call.answer(request, offset, length);
                return true;
              });
      final var methods =
          Collections.nCopies(METHOD + 1, service.getMethod(BYTES.getFullMethodName()));
      return new CallAcceptor(
          new ServerCallContext(List.copyOf(methods), null, DirectExecutor.INSTANCE),
          Context.ROOT,
          new Peer(Attributes.EMPTY, null, SecurityLevel.NONE, new Metadata()));
    }

    void send(long timeoutNs) {
      steps.client.send(prepare(timeoutNs));
    }

    void serve() {
      steps.stepServer();
      steps.stepClient();
    }

    void sendAndPoll() {
      steps.onClock = onClock;
      steps.client.sendAndPoll(prepare(Stream.NO_DEADLINE));
    }

    private void serveOnce() {
      if (!serving) {
        serving = true;
        steps.stepServer();
        serving = false;
      }
    }

    private ClientStream prepare(long timeoutNs) {
      final ClientStream stream = steps.client.open();
      int flags = UNIT;
      long deadlineNs = Stream.NO_DEADLINE;
      if (timeoutNs != Stream.NO_DEADLINE) {
        flags |= FrameDescriptor.DEADLINE;
        deadlineNs = steps.nowNs() + timeoutNs;
        stream.outbound().addLong(timeoutNs);
      }
      stream.outbound().addBytes(MESSAGE, 0, MESSAGE.length);
      stream.prepare(this, flags, METHOD, deadlineNs, MAX_ANSWER);
      sent++;
      return stream;
    }

    @Override
    public void onClosed(ClientStream stream, Outcome outcome) {
      if (outcome != Outcome.ANSWERED) {
        throw new IllegalStateException("outcome=" + outcome);
      }
      answered++;
      steps.client.recycle(stream);
    }
  }
}

package dev.ringfetch.rpc;

import static dev.ringfetch.rpc.TransportContract.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mockito.Mockito;

/**
 * How many messages a call has is counted, not derived from a descriptor, and client and server may
 * have different ones of the same method, as generic proxies do: every type of method on either
 * side, with 0 to 2 messages in each direction, has the same outcome as over plain gRPC.
 */
class CardinalityTest {
  private static final String SERVICE = "cardinality.Service";
  private static final Metadata.Key<String> ANSWERS = Bytes.ascii("answers");
  private static final String TOO_MANY_REQUESTS = "[] INTERNAL: Too many requests";
  private static final TransportHarness RING = new RingHarness();
  private static final TransportHarness GRPC = new GrpcHarness();

  @BeforeAll
  static void startAll() throws Exception {
    for (final TransportHarness harness : List.of(RING, GRPC)) {
      final ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(SERVICE);
      for (final MethodType type : MethodType.values()) {
        service.addMethod(method(type, type), CardinalityTest::serve);
        service.addMethod(method(type, type, "Fixed"), CardinalityTest::serveFixed);
      }
      harness.server(builder -> builder.addService(service.build())).start();
    }
  }

  @AfterEach
  void callsWentOverTheRing() {
    RING.verify(RING.channel());
  }

  @AfterAll
  static void closeAll() throws Exception {
    RING.close();
    GRPC.close();
  }

  /** The method that the server has declared as one type, as a client declares it. */
  private static MethodDescriptor<byte[], byte[]> method(MethodType client, MethodType server) {
    return Bytes.method(SERVICE + "/" + server, client);
  }

  private static MethodDescriptor<byte[], byte[]> method(
      MethodType client, MethodType server, String prefix) {
    return Bytes.method(SERVICE + "/" + prefix + server, client);
  }

  /** Answers as often as the first byte of the request says. */
  private static ServerCall.Listener<byte[]> serveFixed(
      ServerCall<byte[], byte[]> call, Metadata headers) {
    call.request(1);
    return new ServerCall.Listener<>() {
      @Override
      public void onMessage(byte[] message) {
        call.sendHeaders(new Metadata());
        for (int i = 0; i < message[0]; i++) {
          call.sendMessage(new byte[1]);
        }
        call.close(Status.OK, new Metadata());
      }
    };
  }

  /** Counts requests to their end, and answers with that count, as often as is asked. */
  private static ServerCall.Listener<byte[]> serve(
      ServerCall<byte[], byte[]> call, Metadata headers) {
    call.request(10);
    return new ServerCall.Listener<>() {
      private int requests;

      @Override
      public void onMessage(byte[] message) {
        requests++;
      }

      @Override
      public void onHalfClose() {
        call.sendHeaders(new Metadata());
        final int answers = Integer.parseInt(headers.get(ANSWERS));
        for (int i = 0; i < answers; i++) {
          call.sendMessage(new byte[requests]);
        }
        call.close(Status.OK.withDescription("done"), new Metadata());
      }
    };
  }

  private static Metadata answers(int answers) {
    final Metadata headers = new Metadata();
    headers.put(ANSWERS, Integer.toString(answers));
    return headers;
  }

  /** What is seen of a call: answers, each as the number of requests, and the end. */
  private static String outcome(
      TransportHarness harness, MethodDescriptor<byte[], byte[]> method, int requests, int answers)
      throws Exception {
    final List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
    final Exchange call =
        new Exchange(harness.channel(), method, CallOptions.DEFAULT) {
          @Override
          void inMessage(byte[] message) {
            seen.add(message.length);
          }
        };
    call.start(answers(answers));
    call.call().request(10);
    for (int i = 0; i < requests; i++) {
      call.call().sendMessage(new byte[1]);
    }
    call.call().halfClose();
    final Status status = call.await();
    return seen + " " + status.getCode() + ": " + status.getDescription();
  }

  /**
   * Where one side breaks a rule of the server's descriptor, gRPC resets the stream, and a ring
   * says which.
   */
  private static String brokenByServer(int answers) {
    return "[] INTERNAL: " + (answers == 0 ? "Completed without a response" : "Too many responses");
  }

  @ParameterizedTest
  @EnumSource(MethodType.class)
  void countsAsGrpcDoes(MethodType client) throws Exception {
    for (final MethodType server : MethodType.values()) {
      for (int requests = 0; requests <= 2; requests++) {
        for (int answers = 0; answers <= 2; answers++) {
          final MethodDescriptor<byte[], byte[]> method = method(client, server);
          final String what =
              client + " calls " + server + ": " + requests + " requests, " + answers + " answers";
          final String overGrpc = outcome(GRPC, method, requests, answers);
          final String overRing = outcome(RING, method, requests, answers);
          final boolean tooMany = server.clientSendsOneMessage() && requests > 1;
          if (tooMany || (server.serverSendsOneMessage() && answers != 1)) {
            assertTrue(overGrpc.contains("CANCELLED: "), what);
            assertEquals(tooMany ? TOO_MANY_REQUESTS : brokenByServer(answers), overRing, what);
          } else {
            assertEquals(overGrpc, overRing, what);
          }
        }
      }
    }
  }

  /** How a stub's call ends: the answer, or what it throws. */
  private static String ofStub(TransportHarness harness, MethodType server, int answers) {
    try {
      final byte[] answer =
          ClientCalls.blockingUnaryCall(
              ClientInterceptors.intercept(
                  harness.channel(), MetadataUtils.newAttachHeadersInterceptor(answers(answers))),
              method(MethodType.UNARY, server),
              CallOptions.DEFAULT,
              new byte[1]);
      return "answer " + answer.length;
    } catch (StatusRuntimeException e) {
      final Throwable cause = e.getStatus().getCause();
      return e.getStatus().getCode()
          + ": "
          + e.getStatus().getDescription()
          + (cause == null ? "" : " by " + cause.getMessage());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"UNKNOWN", "SERVER_STREAMING", "BIDI_STREAMING"})
  void aBlockingStubEndsAsOverGrpc(MethodType server) {
    for (int answers = 0; answers <= 2; answers++) {
      assertEquals(ofStub(GRPC, server, answers), ofStub(RING, server, answers));
    }
    assertEquals("answer 1", ofStub(RING, server, 1));
  }

  /** The same of {@link UnaryCall}, which has no descriptor's marshallers and no stub. */
  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"UNKNOWN", "SERVER_STREAMING", "BIDI_STREAMING"})
  void aCallOfBytesCountsToo(MethodType server) throws Exception {
    final UnaryListener listener = Mockito.mock(UnaryListener.class);
    final UnaryCall call =
        ((RingChannel) RING.channel())
            .newUnaryCall(method(MethodType.UNARY, server, "Fixed"), listener);
    for (int round = 0; round < 3; round++) {
      for (int answers = 0; answers <= 2; answers++) {
        final Status status = call.run(new byte[] {(byte) answers}, 0, 1, UnaryCall.NO_TIMEOUT);
        switch (answers) {
          case 0 -> assertStatus(Status.Code.INTERNAL, "No value received for unary call", status);
          case 1 -> assertEquals(Status.OK, status);
          default ->
              assertStatus(
                  Status.Code.INTERNAL, "More than one value received for unary call", status);
        }
      }
    }
    Mockito.verify(listener, Mockito.times(3))
        .onAnswer(Mockito.eq(call), Mockito.any(), Mockito.anyInt(), Mockito.eq(1));
  }
}

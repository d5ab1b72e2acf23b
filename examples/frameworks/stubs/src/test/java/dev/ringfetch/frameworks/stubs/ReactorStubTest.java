package dev.ringfetch.frameworks.stubs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.examples.greeter.v1.ReactorGreeterGrpc;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Stubs and a service of reactor-grpc, as its generator writes them. */
@Tag("frameworks")
@Timeout(120)
final class ReactorStubTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int MANY = 10_000; // more than a window has room for

  private final CountDownLatch cancelled = new CountDownLatch(1);

  /** Greets; in turn, until it is cancelled or {@link #MANY} times. */
  private final class Greeter extends ReactorGreeterGrpc.GreeterImplBase {
    @Override
    public Mono<HelloReply> sayHello(Mono<HelloRequest> request) {
      return request.map(
          asked -> {
            if (asked.getName().isEmpty()) {
              throw Status.INVALID_ARGUMENT.withDescription("nobody").asRuntimeException();
            }
            return reply("hello, " + asked.getName());
          });
    }

    @Override
    public Flux<HelloReply> sayHelloInTurn(Mono<HelloRequest> request) {
      return request
          .flatMapMany(
              asked ->
                  asked.getName().equals("endless")
                      ? Flux.range(0, Integer.MAX_VALUE)
                      : Flux.range(0, MANY))
          .map(number -> reply("hello " + number))
          .doOnCancel(cancelled::countDown);
    }
  }

  private static HelloReply reply(String message) {
    return HelloReply.newBuilder().setMessage(message).build();
  }

  private static HelloRequest request(String name) {
    return HelloRequest.newBuilder().setName(name).build();
  }

  @Test
  void stubsAndServiceWorkOverARing() throws Exception {
    try (Pair pair = new Pair(new Greeter())) {
      final var stub = ReactorGreeterGrpc.newReactorStub(pair.channel());
      assertEquals("hello, you", stub.sayHello(request("you")).block(DEADLINE).getMessage());
      final StatusRuntimeException refused =
          assertThrows(
              StatusRuntimeException.class, () -> stub.sayHello(request("")).block(DEADLINE));
      assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
      assertEquals("nobody", refused.getStatus().getDescription());
      final List<String> all =
          stub.sayHelloInTurn(request("many"))
              .map(HelloReply::getMessage)
              .limitRate(16) // the client's demand goes through to the service
              .collectList()
              .block(DEADLINE);
      assertEquals(IntStream.range(0, MANY).mapToObj(i -> "hello " + i).toList(), all);
      assertEquals(
          3, stub.sayHelloInTurn(request("endless")).take(3).collectList().block(DEADLINE).size());
      assertTrue(cancelled.await(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      assertEquals(4, pair.channel().ringCalls());
      assertEquals(0, pair.channel().grpcCalls());
    }
  }
}

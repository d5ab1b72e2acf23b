package dev.ringfetch.frameworks.stubs

import dev.ringfetch.examples.greeter.v1.GreeterGrpcKt
import dev.ringfetch.examples.greeter.v1.HelloReply
import dev.ringfetch.examples.greeter.v1.HelloRequest
import io.grpc.Status
import io.grpc.StatusException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.onCompletion
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

private const val DEADLINE_MS = 60_000L
private const val MANY = 10_000 // more than a window has room for

/** Stubs and a service of grpc-kotlin, as its generator writes them. */
@Tag("frameworks")
@Timeout(120)
internal class KotlinStubTest {
  private val cancelled = CompletableDeferred<Throwable?>()

  /** Greets; in turn, until it is cancelled or [MANY] times. */
  private inner class Greeter : GreeterGrpcKt.GreeterCoroutineImplBase() {
    override suspend fun sayHello(request: HelloRequest): HelloReply {
      if (request.name.isEmpty()) {
        throw StatusException(Status.INVALID_ARGUMENT.withDescription("nobody"))
      }
      return reply("hello, " + request.name)
    }

    override fun sayHelloInTurn(request: HelloRequest): Flow<HelloReply> {
      val last = if (request.name == "endless") Int.MAX_VALUE else MANY
      return flow { for (number in 0 until last) emit(reply("hello $number")) }
        .onCompletion { if (request.name == "endless") cancelled.complete(it) }
    }
  }

  private fun reply(message: String): HelloReply =
    HelloReply.newBuilder().setMessage(message).build()

  private fun request(name: String): HelloRequest = HelloRequest.newBuilder().setName(name).build()

  @Test
  fun stubsAndServiceWorkOverARing() {
    Pair(Greeter()).use { pair ->
      val stub = GreeterGrpcKt.GreeterCoroutineStub(pair.channel())
      runBlocking {
        withTimeout(DEADLINE_MS) {
          assertEquals("hello, you", stub.sayHello(request("you")).message)
          try {
            stub.sayHello(request(""))
            fail<Unit>("nobody was greeted")
          } catch (e: StatusException) {
            assertEquals(Status.Code.INVALID_ARGUMENT, e.status.code)
            assertEquals("nobody", e.status.description)
          }
          assertEquals(
            (0 until MANY).map { "hello $it" },
            stub.sayHelloInTurn(request("many")).map { it.message }.toList(),
          )
          assertEquals(3, stub.sayHelloInTurn(request("endless")).take(3).toList().size)
          assertNotNull(cancelled.await()) // the reason of its end: it was cancelled
        }
      }
      assertEquals(4, pair.channel().ringCalls())
      assertEquals(0, pair.channel().grpcCalls())
    }
  }
}

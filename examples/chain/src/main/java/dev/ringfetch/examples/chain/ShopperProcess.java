package dev.ringfetch.examples.chain;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.examples.chain.v1.ArticleSheet;
import dev.ringfetch.examples.chain.v1.GatewayGrpc;
import dev.ringfetch.examples.chain.v1.QuoteReply;
import dev.ringfetch.examples.chain.v1.QuoteRequest;
import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.OpenLoop;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.IdGenerator;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The process of the shopper: asks the gateway for quotes on command, one after the other, compares
 * each answer with the only right one, and counts the wrong ones.
 */
@Command(name = "chain-shopper")
final class ShopperProcess implements Callable<Integer> {
  private static final int DEADLINE_SECONDS = 30;
  private static final int MAX_PIECES = 2 * Stock.BULK;

  @Option(names = "--telemetry", description = "Trace calls.")
  private boolean traced;

  @Mixin private Connection connection;

  private final Stopwatch stopwatch = new Stopwatch();
  private final OpenLoop openLoop = OpenLoop.sleeping();
  private final QuoteRequest[] requests = new QuoteRequest[Stock.ARTICLES];
  private final QuoteReply[] replies = new QuoteReply[Stock.ARTICLES];
  private GatewayGrpc.GatewayBlockingStub stub;
  private ListenableFuture<QuoteReply> underWay;
  private int next;
  private long wrong;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new ShopperProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final var loop = ServiceProcess.loop(traced);
    for (int i = 0; i < Stock.ARTICLES; i++) {
      requests[i] = request(Stock.name(i), 1 + i % MAX_PIECES, 0);
      replies[i] = Stock.quote(i, 1 + i % MAX_PIECES);
    }
    stub = GatewayGrpc.newBlockingStub(connection.channel());
    loop.on("check", arguments -> check())
        .on("round", arguments -> round(Integer.parseInt(arguments.get(0))))
        .on(
            "due",
            arguments ->
                due(Integer.parseInt(arguments.get(0)), Integer.parseInt(arguments.get(1))))
        .on("absent", arguments -> ended(request("nothing", 1, 0), DEADLINE_SECONDS * 1000))
        .on(
            "late",
            arguments ->
                ended(
                    request(Stock.name(0), 1, Integer.parseInt(arguments.get(0))),
                    Integer.parseInt(arguments.get(1))))
        .on("begin", arguments -> begin(Integer.parseInt(arguments.get(0))))
        .on("cancel", arguments -> cancel())
        .on("trace", arguments -> trace())
        .on("describe", arguments -> connection.describe())
        .run();
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private static QuoteRequest request(String article, int pieces, int delayMs) {
    return QuoteRequest.newBuilder()
        .setArticle(article)
        .setPieces(pieces)
        .setDelayMs(delayMs)
        .build();
  }

  private GatewayGrpc.GatewayBlockingStub withDeadline(long millis) {
    return stub.withDeadlineAfter(millis, TimeUnit.MILLISECONDS);
  }

  /** Asks for the next article, and compares the answer. */
  private void quote() {
    final int number = next;
    next = (next + 1) % Stock.ARTICLES;
    final QuoteReply reply =
        withDeadline(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS)).quote(requests[number]);
    if (!reply.equals(replies[number]) || !isSheetOf(reply, number)) {
      wrong++;
    }
  }

  private static boolean isSheetOf(QuoteReply reply, int number) {
    try {
      return ArticleSheet.parseFrom(reply.getSheet()).getArticle().equals(Stock.name(number));
    } catch (InvalidProtocolBufferException e) {
      return false;
    }
  }

  private Answer check() {
    IntStream.range(0, Stock.ARTICLES).forEach(unused -> quote());
    return new Answer().with("calls", Stock.ARTICLES).with("wrong", wrong);
  }

  private Answer round(int millis) {
    return answer(stopwatch.runFor(this::quote, millis));
  }

  private Answer due(int rate, int millis) {
    return answer(openLoop.runFor(this::quote, rate, millis));
  }

  private Answer answer(Figures figures) {
    return figures.answer().with("wrong", wrong);
  }

  /** Makes a call that is to fail: how it ended, and after what time. */
  private Answer ended(QuoteRequest request, int deadlineMs) {
    final long startNs = System.nanoTime();
    Status.Code code = Status.Code.OK;
    try {
      final var unused = withDeadline(deadlineMs).quote(request);
    } catch (StatusRuntimeException e) {
      code = e.getStatus().getCode();
    }
    return new Answer()
        .with("code", code)
        .with("millis", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs));
  }

  private Answer begin(int delayMs) {
    underWay =
        GatewayGrpc.newFutureStub(connection.channel()).quote(request(Stock.name(0), 1, delayMs));
    return new Answer();
  }

  /** Cancels what {@code begin} has begun. */
  private Answer cancel() throws InterruptedException, ExecutionException {
    return new Answer().with("cancelled", underWay.cancel(true));
  }

  /** Makes one call that is sampled: as if it came from a caller who has begun the trace. */
  private Answer trace() {
    final SpanContext caller =
        SpanContext.createFromRemoteParent(
            IdGenerator.random().generateTraceId(),
            IdGenerator.random().generateSpanId(),
            TraceFlags.getSampled(),
            TraceState.getDefault());
    Context.current().with(Span.wrap(caller)).wrap(this::quote).run();
    return new Answer()
        .with("trace", caller.getTraceId())
        .with("root", caller.getSpanId())
        .with("wrong", wrong);
  }
}

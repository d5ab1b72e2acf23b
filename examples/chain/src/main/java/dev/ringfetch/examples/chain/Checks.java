package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.process.Answer;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The checks of a chain: answers, an error of the last service, a deadline, a cancellation and a
 * trace have to come through all services.
 */
final class Checks {
  private static final List<Part> SERVICES = List.of(Part.gateway, Part.pricing, Part.inventory);
  private static final int DELAY_MS = 60_000; // longer than all that is awaited
  private static final int DEADLINE_MS = 300;
  private static final int MAX_END_MS = 20_000; // on a busy machine
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Processes chain;
  private final boolean traced;
  private final List<String> faults = new ArrayList<>();

  Checks(Processes chain, boolean traced) {
    this.chain = chain;
    this.traced = traced;
  }

  /** Runs all checks; returns what is wrong. */
  List<String> run() {
    final Answer checked = chain.ask(Part.shopper, "check");
    expect(checked.count("wrong") == 0, "wrong answers: " + checked);
    final Answer absent = chain.ask(Part.shopper, "absent");
    expect(absent.text("code").equals(Status.Code.NOT_FOUND.name()), "no article: " + absent);
    deadline();
    cancellation();
    if (traced) {
      final String unused = trace();
    }
    return faults;
  }

  private void expect(boolean condition, String fault) {
    if (!condition) {
      faults.add(fault);
    }
  }

  /** The last service sees the shopper's deadline, and no service waits longer. */
  private void deadline() {
    final Map<Part, Long> before = failed();
    final Answer late = chain.ask(Part.shopper, "late", DELAY_MS, DEADLINE_MS);
    expect(
        late.text("code").equals(Status.Code.DEADLINE_EXCEEDED.name())
            && late.count("millis") >= DEADLINE_MS
            && late.count("millis") < MAX_END_MS,
        "deadline=" + DEADLINE_MS + " ms: " + late);
    awaitFailed("deadline", before);
    final long left = chain.ask(Part.inventory, "waiting").count("deadlineMs");
    expect(left >= 0 && left <= DEADLINE_MS, "deadline of the inventory, in ms: " + left);
  }

  /** A call that the shopper cancels ends in every service. */
  private void cancellation() {
    final Map<Part, Long> before = failed();
    Answer unused = chain.ask(Part.shopper, "begin", DELAY_MS);
    expect(await(() -> waiting() == 1), "the call does not reach the inventory");
    unused = chain.ask(Part.shopper, "cancel");
    awaitFailed("cancellation", before);
  }

  private long waiting() {
    return chain.ask(Part.inventory, "waiting").count("calls");
  }

  private Map<Part, Long> failed() {
    final Map<Part, Long> failed = new EnumMap<>(Part.class);
    SERVICES.forEach(part -> failed.put(part, chain.ask(part, "failed").count("calls")));
    return failed;
  }

  private void awaitFailed(String cause, Map<Part, Long> before) {
    for (final Part part : SERVICES) {
      expect(
          await(() -> chain.ask(part, "failed").count("calls") == before.get(part) + 1),
          "the " + cause + " does not reach: " + part);
    }
    expect(await(() -> waiting() == 0), "the inventory still waits after the " + cause);
  }

  private static boolean await(BooleanSupplier condition) {
    final long startNs = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNs > TimeUnit.MILLISECONDS.toNanos(MAX_END_MS)) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NS);
    }
    return true;
  }

  /** Makes a call that is traced, and returns its spans as text; they have to make one line. */
  String trace() {
    final Answer call = chain.ask(Part.shopper, "trace");
    expect(call.count("wrong") == 0, "the traced answer is wrong");
    final boolean whole = await(() -> spans(call).isWhole(call.text("root")));
    final String text = spans(call).describe(call.text("root"));
    expect(whole, "the trace is not one line through all services: " + text);
    return text;
  }

  private Trace spans(Answer call) {
    final Trace trace = new Trace();
    for (final Part part : Part.values()) {
      trace.add(part, chain.ask(part, "spans", call.text("trace")));
    }
    return trace;
  }
}

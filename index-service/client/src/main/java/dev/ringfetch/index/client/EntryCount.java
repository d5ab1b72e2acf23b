package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.FieldSummary;
import dev.ringfetch.index.v1.IndexGrpc;
import java.util.DoubleSummaryStatistics;
import java.util.LongSummaryStatistics;

/** The call that counts the entries of a scan or a search, and may sum up a field of them. */
record EntryCount(View<?, ?> view, CountRequest request) {
  private static final Field<Long> ANY = Field.key().unsigned(0, 1);

  private CountResponse call(CountRequest of) {
    final OperationRun run = view.begin(Operation.COUNT, null);
    return run.measure(() -> view.calls().call(run, Call.reading(IndexGrpc.getCountMethod(), of)));
  }

  private CountResponse summed(Field<?> field) {
    final CountResponse answer = call(request.toBuilder().setSummary(field.message()).build());
    if (!answer.hasSummary()) {
      throw Failures.unexpected(
          view.subject(Operation.COUNT, null),
          "the server does not know sums and filters: update it",
          null);
    }
    return answer;
  }

  /**
   * With a filter it asks for a sum, too: servers that do not know these count without a filter.
   */
  long entries() {
    return (request.hasFilter() ? summed(ANY) : call(request)).getEntries();
  }

  LongSummaryStatistics longs(Field<Long> field) {
    final FieldSummary sum = summed(field).getSummary();
    return sum.getEntries() == 0
        ? new LongSummaryStatistics()
        : new LongSummaryStatistics(
            sum.getEntries(), sum.getLeast(), sum.getGreatest(), sum.getSum());
  }

  DoubleSummaryStatistics doubles(Field<Double> field) {
    final FieldSummary sum = summed(field).getSummary();
    if (sum.getEntries() == 0) {
      return new DoubleSummaryStatistics();
    }
    final boolean isNumber = !Double.isNaN(sum.getFloatingSum());
    return new DoubleSummaryStatistics( // which takes all as numbers, or none
        sum.getEntries(),
        isNumber ? sum.getFloatingLeast() : Double.NaN,
        isNumber ? sum.getFloatingGreatest() : Double.NaN,
        sum.getFloatingSum());
  }
}

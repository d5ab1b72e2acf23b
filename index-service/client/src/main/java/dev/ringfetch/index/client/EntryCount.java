package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.FieldSummary;
import dev.ringfetch.index.v1.IndexGrpc;
import java.util.DoubleSummaryStatistics;
import java.util.LongSummaryStatistics;

/** The call that counts the entries of a scan or a search, and may sum up a field of them. */
record EntryCount(View<?, ?> view, CountRequest request) {
  private CountResponse call(CountRequest of) {
    final OperationRun run = view.begin(Operation.COUNT, null);
    return run.measure(() -> view.calls().call(run, Call.reading(IndexGrpc.getCountMethod(), of)));
  }

  private FieldSummary sum(Field<?> field) {
    return call(request.toBuilder().setSummary(field.message()).build()).getSummary();
  }

  long entries() {
    return call(request).getEntries();
  }

  LongSummaryStatistics longs(Field<Long> field) {
    final FieldSummary sum = sum(field);
    return sum.getEntries() == 0
        ? new LongSummaryStatistics()
        : new LongSummaryStatistics(
            sum.getEntries(), sum.getLeast(), sum.getGreatest(), sum.getSum());
  }

  DoubleSummaryStatistics doubles(Field<Double> field) {
    final FieldSummary sum = sum(field);
    return sum.getEntries() == 0
        ? new DoubleSummaryStatistics()
        : new DoubleSummaryStatistics(
            sum.getEntries(),
            sum.getFloatingLeast(),
            sum.getFloatingGreatest(),
            sum.getFloatingSum());
  }
}

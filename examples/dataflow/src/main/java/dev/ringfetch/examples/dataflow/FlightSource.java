package dev.ringfetch.examples.dataflow;

import io.grpc.BindableService;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.arrow.flight.BackpressureStrategy;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.flight.auth.ServerAuthHandler;
import org.apache.arrow.flight.grpc.ServerBackpressureThresholdInterceptor;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/** The source as a service of Arrow Flight, with the same batches in Arrow's form. */
final class FlightSource extends NoOpFlightProducer {
  private static final long READY_MILLIS = 60_000;

  /** As Flight's own server has it: so many bytes wait in a call before it is not ready. */
  private static final int READY_LENGTH = 10 * 1024 * 1024;

  private final ExecutorService executor =
      Executors.newCachedThreadPool(
          task -> {
            final Thread thread = new Thread(task, "flight");
            thread.setDaemon(true);
            return thread;
          });

  private final BufferAllocator allocator;
  private final Map<String, Table> tables;
  private final Map<String, List<ArrowRecordBatch>> batches = new ConcurrentHashMap<>();

  FlightSource(BufferAllocator allocator, Map<String, Table> tables) {
    this.allocator = allocator;
    this.tables = tables;
  }

  /** Creates the service, with the interceptor that Flight's own server adds. */
  @SuppressWarnings("deprecation") // there is no other way to name no handler
  ServerServiceDefinition service() {
    final BindableService service =
        FlightGrpcUtils.createFlightService(allocator, this, ServerAuthHandler.NO_OP, executor);
    return ServerInterceptors.intercept(
        service, new ServerBackpressureThresholdInterceptor(READY_LENGTH));
  }

  /** Streams from a thread of its own: the one that calls this tells the listener to go on. */
  @Override
  public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
    final Request request = Request.parse(new String(ticket.getBytes(), StandardCharsets.UTF_8));
    final BackpressureStrategy ready = new BackpressureStrategy.CallbackBackpressureStrategy();
    ready.register(listener);
    executor.execute(() -> stream(request, ready, listener));
  }

  private void stream(Request request, BackpressureStrategy ready, ServerStreamListener listener) {
    final Table table = tables.get(request.table());
    try (VectorSchemaRoot root = root(table)) {
      final List<ArrowRecordBatch> all =
          batches.computeIfAbsent(
              table.name() + " " + request.batchBytes(),
              key ->
                  table.batches(request.batchBytes()).stream()
                      .map(range -> batch(table, range))
                      .toList());
      final VectorLoader loader = new VectorLoader(root);
      listener.start(root);
      for (int pass = 0; pass < request.passes(); pass++) {
        for (final ArrowRecordBatch batch : all) {
          if (ready.waitForListener(READY_MILLIS) != BackpressureStrategy.WaitResult.READY) {
            throw CallStatus.TIMED_OUT
                .withDescription("the sink has read nothing for " + READY_MILLIS + " ms")
                .toRuntimeException();
          }
          loader.load(batch);
          listener.putNext();
        }
      }
      listener.completed();
    } catch (RuntimeException e) {
      listener.error(e);
    }
  }

  private VectorSchemaRoot root(Table table) {
    final List<FieldVector> vectors = new ArrayList<>();
    for (final Column column : table.columns()) {
      vectors.add(
          switch (column.kind()) {
            case LONG -> new BigIntVector(column.name(), allocator);
            case DOUBLE -> new Float8Vector(column.name(), allocator);
            case TEXT -> new VarCharVector(column.name(), allocator);
          });
    }
    return new VectorSchemaRoot(vectors);
  }

  private ArrowRecordBatch batch(Table table, Table.Range range) {
    try (VectorSchemaRoot root = root(table)) {
      for (int i = 0; i < table.columns().size(); i++) {
        final Column column = table.columns().get(i);
        final FieldVector vector = root.getVector(i);
        for (int row = 0; row < range.rows(); row++) {
          final int from = range.from() + row;
          if (vector instanceof BigIntVector longs) {
            longs.setSafe(row, column.number(from));
          } else if (vector instanceof Float8Vector doubles) {
            doubles.setSafe(row, Double.longBitsToDouble(column.number(from)));
          } else {
            ((VarCharVector) vector).setSafe(row, column.text(from));
          }
        }
      }
      root.setRowCount(range.rows());
      return new VectorUnloader(root).getRecordBatch();
    }
  }
}

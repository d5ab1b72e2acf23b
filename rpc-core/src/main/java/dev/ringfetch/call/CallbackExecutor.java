package dev.ringfetch.call;

import dev.ringfetch.session.poller.ProcessorTime;
import io.grpc.MethodDescriptor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The executor of a channel whose application has set none: callbacks that have proven short run on
 * the poller's thread, and all other tasks in a pool. The records of the channel's methods are
 * here, because they outlive its sessions. Thread-safe.
 */
public final class CallbackExecutor implements Executor {
  private final Executor pool;
  private final Supplier<TaskRecord> newRecord;
  private final Map<String, TaskRecord> records = new ConcurrentHashMap<>();

  /**
   * Creates the executor of a channel.
   *
   * @param newRecord creates the record of a method.
   */
  public CallbackExecutor(Executor pool, Supplier<TaskRecord> newRecord) {
    this.pool = pool;
    this.newRecord = newRecord;
    ProcessorTime.load();
  }

  @Override
  public void execute(Runnable task) {
    pool.execute(task);
  }

  /** The record of a method that a ring's server names, so that there are not more than these. */
  TaskRecord record(MethodDescriptor<?, ?> method) {
    final String name = method.getFullMethodName();
    final TaskRecord known = records.get(name);
    return known == null ? records.computeIfAbsent(name, absent -> newRecord.get()) : known;
  }
}

package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.AppendResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * One partition of a topic: a log of records. Offsets grow with each record, begin at 1 or above,
 * and may have gaps.
 *
 * <p>Reads go by calls, or read the server's memory, as {@link #access} says. Immutable; safe for
 * use by many threads.
 */
public final class TopicLog {
  /** Length of the longest record in bytes. */
  public static final int MAX_RECORD_BYTES = AppendDescriptor.MAX_RECORD_LENGTH;

  /** The most records of an append. */
  public static final int MAX_RECORDS = PutAll.BATCH_ENTRIES;

  /** The offset of the next record of a partition that is empty and new. */
  public static final long BEGIN = 1;

  private final OrderedIndex<Long, ByteString> index;

  TopicLog(OrderedIndex<Long, ByteString> index) {
    this.index = index;
  }

  /** The same partition with this route of reads; default {@link Access#RPC}. */
  public TopicLog access(Access access) {
    return new TopicLog(index.access(access));
  }

  /** The same partition with another deadline of each operation. */
  public TopicLog deadline(Duration deadline) {
    return new TopicLog(index.deadline(deadline));
  }

  /**
   * Appends records, in their order. Either all of them are appended, or the first so many. Two
   * calls that are under way at once come in any order, so a program that cares makes one after the
   * other.
   *
   * @param records 1 to {@value #MAX_RECORDS}, each up to {@link #MAX_RECORD_BYTES}, and 4 MiB
   *     together.
   * @return their offsets and times. Fails with {@link AppendException} if the server has refused a
   *     part; with another {@link IndexException} as a write does: with NOT_FOUND if there is no
   *     such topic, with INVALID_ARGUMENT beyond a limit.
   */
  public CompletableFuture<Appended> append(List<ByteString> records) {
    final AppendRequest request =
        AppendRequest.newBuilder()
            .setIndex(index.view().requests().name())
            .addAllRecords(records)
            .build();
    return index
        .async()
        .run(
            Operation.APPEND,
            null,
            future -> {
              future.run().check(limit(request));
              index
                  .view()
                  .send(
                      future,
                      Call.writing(
                          IndexGrpc.getAppendMethod(),
                          request,
                          false, // an index that a write creates takes no appends
                          new RecordNumbering(request.getRecordsCount())),
                      AppendResponse::getIncarnation,
                      response -> answered(future, request, response));
            });
  }

  private static Status limit(AppendRequest request) {
    final int count = request.getRecordsCount();
    if (count < 1 || count > MAX_RECORDS) {
      return Status.INVALID_ARGUMENT.withDescription(
          "records=" + count + " is not from 1 to " + MAX_RECORDS);
    }
    for (final ByteString record : request.getRecordsList()) {
      if (record.size() > MAX_RECORD_BYTES) {
        return Status.INVALID_ARGUMENT.withDescription(
            "record is too long: size=" + record.size() + " limit=" + MAX_RECORD_BYTES + " bytes");
      }
    }
    return EntryLimits.ofRequest(request);
  }

  /** Gives each record of an append a number. */
  private record RecordNumbering(int writes)
      implements Call.Numbering<AppendRequest, AppendResponse> {
    @Override
    public AppendRequest numbered(AppendRequest request, RequestNumber first) {
      return request.toBuilder().setNumber(first).build();
    }

    /** The status of a server that is stopping or overloaded, or knows the numbers no more. */
    @Override
    public Status failure(AppendResponse answer) {
      final Status status = status(answer);
      final boolean isGone = Failures.isGone(status) && answer.getOffsetsCount() == 0;
      return Failures.isLost(status) || Failures.isOverloaded(status) || isGone ? status : null;
    }
  }

  private static Status status(AppendResponse response) {
    return Status.fromCodeValue(response.getCode()).withDescription(response.getDescription());
  }

  private static void answered(
      CallFuture<Appended> future, AppendRequest request, AppendResponse response) {
    final Subject subject = future.run().subject();
    final Appended appended = new Appended(response.getOffsetsList(), response.getTimesMsList());
    final int count = response.getOffsetsCount();
    if (response.getIncarnation() == 0) {
      future.fail(
          new IndexException(
              subject, Status.NOT_FOUND.withDescription("there is no such topic"), false));
    } else if (!status(response).isOk()) {
      future.fail(new AppendException(subject, status(response), appended));
    } else if (count != request.getRecordsCount()) {
      final String counts = "offsets=" + count + " records=" + request.getRecordsCount();
      future.fail(
          Failures.known(subject, Status.INTERNAL.withDescription(counts), true)); // or appended
    } else {
      future.succeed(appended);
    }
  }

  /** Offset of the first record, or of the next one if the partition is empty and new. */
  public long first() {
    return first(index.keys(Range.all())).orElse(BEGIN);
  }

  /** Offset behind the last record: each later record has this one or a greater one. */
  public long end() {
    final OptionalLong last = first(index.keys(Range.all()).reverse());
    return last.isEmpty() ? BEGIN : last.getAsLong() + 1;
  }

  /** Counts the records from an offset on: what a reader who stands there has still to read. */
  public long count(long from) {
    return index.count(Range.atLeast(checkOffset(from)));
  }

  private static OptionalLong first(Scan<Long> keys) {
    final List<Long> first = keys.limit(1).toList();
    return first.isEmpty() ? OptionalLong.empty() : OptionalLong.of(first.get(0));
  }

  /**
   * Reads records in the order of their offsets. Fewer come than the limits allow where the
   * partition ends, and at least one if there is any. To go on, a reader takes the last offset plus
   * 1.
   *
   * @param from the least offset of a record; 0 for the first record that there is.
   * @param maxRecords limit of the number of records, at least 1.
   * @param maxBytes limit of the bytes of the records together; the last one may exceed it.
   * @throws OffsetOutOfRangeException if the partition begins behind {@code from}.
   */
  public List<TopicRecord> read(long from, int maxRecords, int maxBytes) {
    return page(from, maxRecords, maxBytes).records();
  }

  /** As {@link #read}; says in addition whether it is the same partition as before. */
  public TopicPage page(long from, int maxRecords, int maxBytes) {
    final Subject subject = index.view().subject(Operation.SCAN, null);
    final List<TopicRecord> records = new ArrayList<>();
    final ScanIterator<IndexEntry<Long, ByteString>> entries =
        index.scan(Range.atLeast(checkOffset(from))).limit(maxRecords).iterator();
    int bytes = 0;
    while (entries.hasNext()) {
      final IndexEntry<Long, ByteString> entry = entries.next();
      final long due = records.isEmpty() ? from : records.get(records.size() - 1).offset() + 1;
      if (entry.key() > due && due > 0) {
        final long first = first(); // at due or before where there is only a gap
        if (due < first) {
          if (records.isEmpty()) {
            throw new OffsetOutOfRangeException(subject, due, first);
          }
          break; // those between were removed since: the next read tells
        }
      }
      final TopicRecord record = record(subject, entry);
      records.add(record);
      bytes += record.value().size();
      if (bytes >= maxBytes) {
        break;
      }
    }
    return new TopicPage(entries.incarnation(), records);
  }

  private static long checkOffset(long offset) {
    if (offset < 0) {
      throw new IllegalArgumentException("offset=" + offset + " is negative");
    }
    return offset;
  }

  private static TopicRecord record(Subject subject, IndexEntry<Long, ByteString> entry) {
    final ByteString value = entry.value();
    if (value.size() < AppendDescriptor.TIME_LENGTH) {
      throw Failures.unexpected(subject, "not a record: offset=" + entry.key(), null);
    }
    return new TopicRecord(
        entry.key(), AppendDescriptor.time(value), AppendDescriptor.record(value));
  }

  /**
   * The offset of the first record that was appended at a time or later; empty if there is none.
   * Reads a record for each step of a binary search.
   *
   * @param timeMs in milliseconds since 1970.
   */
  public OptionalLong offsetAt(long timeMs) {
    long low = first();
    long high = end(); // from here on no record is earlier
    while (low < high) {
      final long middle = (low + high) >>> 1;
      final Optional<TopicRecord> record = recordFrom(middle);
      if (record.isPresent() && record.get().timeMs() < timeMs) {
        low = record.get().offset() + 1;
      } else {
        high = middle;
      }
    }
    return first(index.keys(Range.atLeast(low)));
  }

  private Optional<TopicRecord> recordFrom(long offset) {
    return index
        .first(Range.atLeast(offset))
        .map(entry -> record(index.view().subject(Operation.SCAN, null), entry));
  }

  /**
   * Waits for a record, by one watch.
   *
   * @param offset the least offset of the record.
   * @return whether there is one; false if none came in time.
   */
  public boolean await(long offset, Duration timeout) {
    final Range<Long> range = Range.atLeast(checkOffset(offset));
    if (first(index.keys(range)).isPresent()) {
      return true;
    }
    final long endNs = System.nanoTime() + timeout.toNanos();
    try (Watch<Long, ByteString> watch = index.watch(range, WatchOptions.fromNow().keysOnly())) {
      boolean isThere = first(index.keys(range)).isPresent(); // before the watch began
      while (!isThere && System.nanoTime() - endNs < 0) {
        isThere =
            watch
                .next(Duration.ofNanos(endNs - System.nanoTime()))
                .filter(change -> change.kind() == IndexChange.Kind.PUT)
                .isPresent();
      }
      return isThere;
    }
  }

  /**
   * Runs a task after appends, on the {@linkplain IndexClientBuilder#executor executor} of the
   * client: one after the other, perhaps once for several appends, and when the watch under it
   * begins. A reader that registers its task, then reads to the end, and then waits for the task,
   * misses no record.
   *
   * @return ends the task when it is closed.
   */
  public TopicWatch onAppend(Runnable task) {
    return TopicWatch.start(index, task);
  }
}

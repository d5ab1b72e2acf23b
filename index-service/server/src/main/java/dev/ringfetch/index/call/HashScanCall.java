package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The call of a scan of a hash index: the owners of its partitions walk over their entries, one
 * after the other, in steps that each take as many as the page has room for.
 */
final class HashScanCall extends ScanCall {
  /** The first byte of a token; those of ordered indexes have others. */
  private static final byte HASH = 3;

  private static final int TOKEN_LENGTH =
      1 + 2 * Long.BYTES + Integer.BYTES + EntryWalk.POSITION_LENGTH;

  private final ScanRequest request;
  private final @Nullable EntryFilter filter;
  private int partition;
  private EntryWalk walk = new EntryWalk();
  private @Nullable OwnerTask task; // null: none was submitted
  private volatile boolean answered; // the task

  /**
   * Creates the call.
   *
   * @param all whether all pages are answers, as fast as the client takes them
   * @throws StatusException INVALID_ARGUMENT if the page token is none of such a scan, ABORTED if
   *     it is of an index that was served elsewhere or in an earlier process, or was dropped
   */
  HashScanCall(
      ServedIndex index,
      @Nullable EntryFilter filter,
      ScanRequest request,
      CallSignals<ScanResponse> signals,
      RangeCalls calls,
      boolean all)
      throws StatusException {
    super(new RangeReading(index, null, filter), request, signals, calls, all);
    this.request = request;
    this.filter = filter;
    if (!request.getPageToken().isEmpty()) {
      seek(request.getPageToken());
    }
  }

  private void seek(ByteString token) throws StatusException {
    final ByteBuffer from = token.asReadOnlyByteBuffer();
    if (token.size() != TOKEN_LENGTH || from.get() != HASH) {
      throw none();
    }
    if (from.getLong() != index.incarnation() || from.getLong() != index.service()) {
      throw Status.ABORTED
          .withDescription(
              "the index was dropped, or another leader or process serves it since the page before:"
                  + " begin again")
          .asException();
    }
    partition = from.getInt();
    if (partition < 0 || partition >= index.partitions() || !walk.seek(from)) {
      throw none();
    }
  }

  private static StatusException none() {
    return Status.INVALID_ARGUMENT
        .withDescription("not a token of a page of such a scan: page_token")
        .asException();
  }

  @Override
  Next ready() {
    if (super.ready() == Next.WAIT) {
      return Next.WAIT;
    }
    if (task == null) {
      answered = false;
      walk.limit(page.room());
      if (filter != null) {
        walk.filter(filter::accepts);
      }
      task = OwnerTask.walk(walk, unused -> answered());
      final int refused = index.partition(partition).submit(task);
      if (refused != 0) {
        return fail(calls.outcomes().status(index, refused));
      }
    }
    return answered ? Next.STEP : Next.WAIT;
  }

  private void answered() {
    answered = true;
    driveLater(); // not here: other answers wait
  }

  @Override
  Next step() {
    final OwnerTask step = task;
    task = null;
    if (step.outcome() != OwnerTask.DONE) {
      return fail(calls.outcomes().status(index, step.outcome()));
    }
    for (final Entry entry : walk.entries()) {
      if (entry.getDeadlineMs() == 0 || entry.getDeadlineMs() > step.clock()) {
        page.add(request.getKeysOnly() ? entry.toBuilder().clearValue().build() : entry);
      }
    }
    walk.clear();
    if (walk.isDone()) {
      walk = new EntryWalk();
      partition++;
    }
    return stepped(partition == index.partitions());
  }

  @Override
  ByteString token() {
    final ByteBuffer token = ByteBuffer.allocate(TOKEN_LENGTH);
    token.put(HASH).putLong(index.incarnation()).putLong(index.service()).putInt(partition);
    walk.tell(token);
    return ByteString.copyFrom(token.flip());
  }
}

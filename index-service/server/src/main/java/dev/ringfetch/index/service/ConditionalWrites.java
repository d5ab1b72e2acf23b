package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.call.TransactLimits;
import dev.ringfetch.index.call.WriteCall;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.node.CatchUp;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.Transaction;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.Touch;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The calls of writes whose effect depends on the entries that are there: CompareAndSet, Update and
 * Transact. Those that may write a new entry create a missing index; the others are answered
 * without one.
 *
 * <p>Safe for use by many threads. No method waits.
 */
final class ConditionalWrites {
  private final Indexes indexes;
  private final Outcomes outcomes;
  private final RequestNumbers numbers;
  private final IndexLookup lookup;

  ConditionalWrites(Indexes indexes, RequestNumbers numbers, IndexLookup lookup) {
    this.indexes = indexes;
    this.outcomes = indexes.memory().statuses();
    this.numbers = numbers;
    this.lookup = lookup;
  }

  /**
   * A call of such a write.
   *
   * @param number null if the write has none
   * @param creates whether it may write a new entry
   * @param absent the answer where there is no index
   */
  private record Call<T>(
      String index,
      ByteString key,
      @Nullable RequestNumber number,
      boolean creates,
      StreamObserver<T> responses,
      T absent,
      WriteCall.Response<T> response,
      Preparation preparation) {}

  /** The preparation of a write, before it gets its number. */
  @FunctionalInterface
  private interface Preparation {
    Write prepare(ServedIndex index, Write.Listener listener) throws StatusException;
  }

  void compareAndSet(
      CompareAndSetRequest request, StreamObserver<CompareAndSetResponse> responses) {
    CatchUp.carryOut(
        () -> {
          RequestLimits.checkKey(request.getKey());
          RequestLimits.checkValue(request.getValue());
          RequestLimits.checkTtl(request.getTtlMs());
          if (request.getKeepDeadline() && request.getTtlMs() != 0) {
            throw invalid("keep_deadline goes without ttl_ms: ttl_ms=" + request.getTtlMs());
          }
          carryOut(
              new Call<>(
                  request.getIndex(),
                  request.getKey(),
                  request.hasNumber() ? request.getNumber() : null,
                  request.getExpectedVersion() == 0,
                  responses,
                  CompareAndSetResponse.getDefaultInstance(),
                  ConditionalWrites::compared,
                  (index, listener) -> prepare(new Write(listener), request)));
        },
        responses::onError);
  }

  private static Write prepare(Write write, CompareAndSetRequest request) {
    write
        .compareAndSet(request.getKey(), request.getExpectedVersion(), request.getValue())
        .ttl(request.getTtlMs());
    return request.getKeepDeadline() ? write.keepDeadline() : write;
  }

  private static CompareAndSetResponse compared(ServedIndex index, Write write) {
    final CompareAndSetResponse.Builder response =
        CompareAndSetResponse.newBuilder()
            .setApplied(write.applied())
            .setIncarnation(index.incarnation());
    if (write.entry() != null) {
      response.setEntry(write.entry());
    }
    if (write.isValueGone()) {
      response.setValueGone(true);
    }
    return response.build();
  }

  void update(UpdateRequest request, StreamObserver<UpdateResponse> responses) {
    CatchUp.carryOut(
        () -> {
          check(request);
          carryOut(
              new Call<>(
                  request.getIndex(),
                  request.getKey(),
                  request.hasNumber() ? request.getNumber() : null,
                  request.hasIncrement() || request.hasGetAndSet(),
                  responses,
                  UpdateResponse.getDefaultInstance(),
                  ConditionalWrites::updated,
                  (index, listener) -> prepare(new Write(listener), request)));
        },
        responses::onError);
  }

  private static void check(UpdateRequest request) throws StatusException {
    RequestLimits.checkKey(request.getKey());
    switch (request.getChangeCase()) {
      case INCREMENT -> RequestLimits.checkTtl(request.getIncrement().getTtlMs());
      case GET_AND_SET -> {
        RequestLimits.checkValue(request.getGetAndSet().getValue());
        RequestLimits.checkTtl(request.getGetAndSet().getTtlMs());
      }
      case DELETE_IF -> {
        if (request.getDeleteIf().getExpectedVersion() == 0) {
          throw invalid("expected_version is missing: an entry has none that is 0");
        }
      }
      case TOUCH -> {
        final Touch touch = request.getTouch();
        RequestLimits.checkTtl(touch.getTtlMs());
        RequestLimits.checkDeadline(touch.getDeadlineMs());
        if (touch.getTtlMs() != 0 && touch.getDeadlineMs() != 0) {
          throw invalid("ttl_ms goes without deadline_ms: ttl_ms=" + touch.getTtlMs());
        }
      }
      case CHANGE_NOT_SET ->
          throw Status.UNIMPLEMENTED
              .withDescription("the change is missing, or none that this server knows")
              .asException();
    }
  }

  private static StatusException invalid(String description) {
    return Status.INVALID_ARGUMENT.withDescription(description).asException();
  }

  private static Write prepare(Write write, UpdateRequest request) {
    final ByteString key = request.getKey();
    return switch (request.getChangeCase()) {
      case INCREMENT ->
          write
              .increment(key, request.getIncrement().getDelta())
              .ttl(request.getIncrement().getTtlMs());
      case GET_AND_SET ->
          write
              .getAndSet(key, request.getGetAndSet().getValue())
              .ttl(request.getGetAndSet().getTtlMs());
      case DELETE_IF -> write.deleteIf(key, request.getDeleteIf().getExpectedVersion());
      case TOUCH -> {
        final Touch touch = request.getTouch();
        yield write
            .touch(key, touch.getExpectedVersion(), touch.getDeadlineMs())
            .ttl(touch.getTtlMs());
      }
      case CHANGE_NOT_SET -> throw new IllegalStateException("change=" + request.getChangeCase());
    };
  }

  private static UpdateResponse updated(ServedIndex index, Write write) throws StatusException {
    final UpdateResponse.Builder response =
        UpdateResponse.newBuilder()
            .setApplied(!write.isUnchanged())
            .setIncarnation(index.incarnation());
    switch (write.kind()) {
      case INCREMENT -> {
        if (write.isUnchanged()) {
          throw Outcomes.notCounted(write.detail(), "delta=" + write.expectedVersion())
              .asException();
        }
        response.setVersion(write.version()).setCounter(write.detail());
      }
      case PUT -> {
        response.setVersion(write.version());
        if (write.entry() != null) {
          response.setPrevious(write.entry());
        } else if (!write.created()) {
          response.setPreviousGone(true);
        }
      }
      case TOUCH -> response.setVersion(write.isUnchanged() ? write.detail() : write.version());
      case DELETE -> response.setVersion(write.isUnchanged() ? write.detail() : 0);
      default -> throw new IllegalStateException("kind=" + write.kind());
    }
    return response.build();
  }

  void transact(TransactRequest request, StreamObserver<TransactResponse> responses) {
    CatchUp.carryOut(
        () -> {
          TransactLimits.check(request);
          final Optional<ByteString> key = TransactLimits.keys(request).findFirst();
          if (key.isEmpty()) {
            throw invalid("the transaction is empty: it has neither comparisons nor operations");
          }
          carryOut(
              new Call<>(
                  request.getIndex(),
                  key.get(),
                  request.hasNumber() ? request.getNumber() : null,
                  Transaction.mayCreate(request),
                  responses,
                  Transaction.ofNothing(request),
                  ConditionalWrites::transacted,
                  (index, listener) -> {
                    TransactLimits.checkKeys(index, request);
                    return new Transaction(request, listener);
                  }));
        },
        responses::onError);
  }

  private static TransactResponse transacted(ServedIndex index, Write write)
      throws StatusException {
    final Transaction transaction = (Transaction) write;
    if (transaction.isRefused()) {
      throw Outcomes.notCounted(write.detail(), "an increment of the transaction, nothing was done")
          .asException();
    }
    return transaction.response().setIncarnation(index.incarnation()).build();
  }

  private <T> void carryOut(Call<T> call) throws StatusException {
    final ServedIndex found = indexes.find(call.index());
    if (found != null) {
      carryOut(found, call);
    } else {
      lookup.whenKnown(call.index(), call.responses(), known -> carryOut(known, call));
    }
  }

  private <T> void carryOut(@Nullable ServedIndex index, Call<T> call) throws StatusException {
    final RequestNumber number = call.number();
    final NumberedClient client = number == null ? null : numbers.client(index, number, 1);
    if (index == null && call.creates()) {
      lookup.whenCreated(call.index(), call.responses(), created -> carryOut(created, call));
      return;
    }
    if (index == null) {
      WriteCall.answer(call.responses(), call.absent());
      return;
    }
    final Write write =
        call.preparation()
            .prepare(index, new WriteCall<>(index, outcomes, call.responses(), call.response()));
    write.numbered(client, number == null ? 0 : number.getNumber());
    final int refused = index.partition(call.key()).submit(write);
    if (refused != 0) {
      throw outcomes.status(index, refused).asException();
    }
  }
}

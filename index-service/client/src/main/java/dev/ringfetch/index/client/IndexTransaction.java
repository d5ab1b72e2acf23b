package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.OperationAnswer;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A transaction of several keys of one partition: the server compares their entries, and carries
 * out one of two lists of operations, in one step.
 *
 * <pre>{@code
 * TransactionResult<String, Long> paid = accounts.transaction()
 *     .when(c -> c.valueGreater("{shop}.ada", 99L))
 *     .then(t -> t.increment("{shop}.ada", -100).increment("{shop}.bob", 100))
 *     .otherwise(t -> t.get("{shop}.ada"))
 *     .commit();
 * }</pre>
 *
 * <p>In a hash index all keys must begin with the same {@code {tag}}, or be the same; keys of an
 * ordered index may be any. Transactions see each other whole. Other reads see each key by itself:
 * for a moment, some of the changes and others not yet.
 *
 * <p>A transaction has at most 128 conditions, 128 operations in each list, and 960 KiB of keys and
 * values. It is carried out once, as each write is. Used by one thread.
 *
 * @param <R> what {@link #commit} returns: a {@link TransactionResult}, or a future of it.
 */
public final class IndexTransaction<K, V, R> {
  private final IndexRequests<K, V> requests;
  private final Function<IndexTransaction<K, V, R>, R> committer;
  private final TransactRequest.Builder request;
  private final TransactionConditions<K, V> conditions;
  private final TransactionOperations<K, V> then;
  private final TransactionOperations<K, V> otherwise;

  IndexTransaction(IndexRequests<K, V> requests, Function<IndexTransaction<K, V, R>, R> committer) {
    this.requests = requests;
    this.committer = committer;
    request = TransactRequest.newBuilder().setIndex(requests.name());
    conditions = new TransactionConditions<>(requests, request);
    then = new TransactionOperations<>(requests);
    otherwise = new TransactionOperations<>(requests);
  }

  /** Adds conditions. Without any, the first list of operations is carried out. */
  public IndexTransaction<K, V, R> when(Consumer<TransactionConditions<K, V>> added) {
    added.accept(conditions);
    return this;
  }

  /** Adds operations for the case that all conditions hold. */
  public IndexTransaction<K, V, R> then(Consumer<TransactionOperations<K, V>> added) {
    added.accept(then);
    return this;
  }

  /** Adds operations for the case that a condition does not hold. */
  public IndexTransaction<K, V, R> otherwise(Consumer<TransactionOperations<K, V>> added) {
    added.accept(otherwise);
    return this;
  }

  /**
   * Has the server carry it out. Called again, it is another transaction.
   *
   * @throws IndexException with FAILED_PRECONDITION if keys of a hash index do not begin with one
   *     tag, or an increment finds no counter; with INVALID_ARGUMENT beyond a limit, or if one list
   *     changes a key twice. Nothing was changed then.
   * @throws OutcomeGoneException also if the transaction was carried out, but its answers of more
   *     than 16 KiB were lost with the connection or the server.
   */
  public R commit() {
    return committer.apply(this);
  }

  /** Whether it may change an entry. */
  private boolean isWriting() {
    return then.isWriting() || otherwise.isWriting();
  }

  /** The call of it; one that only reads needs no number. */
  Call<TransactRequest, TransactResponse> call() {
    final TransactRequest built =
        request
            .clone()
            .addAllThen(then.operations())
            .addAllOtherwise(otherwise.operations())
            .build();
    return isWriting()
        ? Call.writing(
            IndexGrpc.getTransactMethod(),
            built,
            true,
            (numbered, number) -> numbered.toBuilder().setNumber(number).build())
        : Call.reading(IndexGrpc.getTransactMethod(), built);
  }

  /** The result in an answer. */
  TransactionResult<K, V> result(Subject subject, TransactResponse response) {
    if (response.getAnswersGone()) {
      throw new OutcomeGoneException(
          subject,
          Status.FAILED_PRECONDITION.withDescription(
              "the transaction was carried out, but its answers were lost: succeeded="
                  + response.getSucceeded()
                  + " version="
                  + Long.toUnsignedString(response.getVersion())));
    }
    final TransactionOperations<K, V> chosen = response.getSucceeded() ? then : otherwise;
    final List<TransactionResult.Answer<K, V>> answers = new ArrayList<>();
    for (int i = 0; i < response.getAnswersCount(); i++) {
      final OperationAnswer answer = response.getAnswers(i);
      answers.add(
          new TransactionResult.Answer<>(
              answer.getExisted(),
              requests.found(subject, chosen.key(i), answer.hasEntry(), answer.getEntry()),
              answer.getCounter()));
    }
    return new TransactionResult<>(
        response.getSucceeded(),
        response.getVersion() == 0 ? OptionalLong.empty() : OptionalLong.of(response.getVersion()),
        answers);
  }
}

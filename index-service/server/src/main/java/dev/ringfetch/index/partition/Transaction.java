package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.KeyBounds;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.OperationAnswer;
import dev.ringfetch.index.v1.TransactOperation;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of several keys of a partition, from its request to its answer. Each operation is
 * a write of its own. Those that change an entry are the parts of the one record that the
 * transaction has, and have its version.
 */
public final class Transaction extends Write {
  /** Limit of the comparisons, and of the operations of each list. */
  public static final int MAX_OPERATIONS = 128;

  /**
   * Limit of the bytes of all keys and values. A record has room for 1 MiB; each change takes up to
   * 111 bytes of it besides key and value, and the kept answers 16 KiB.
   */
  public static final int MAX_BYTES = 960 << 10;

  /** Limit of the entries that the answer has, of which a gRPC client takes 4 MiB. */
  public static final int MAX_ANSWER_BYTES = (4 << 20) - (64 << 10);

  private static final Listener NOBODY = write -> {};

  private final TransactRequest request;
  private final Write[] then;
  private final Write[] otherwise;
  private boolean succeeded;
  private boolean refused;
  private long refusedLength; // of the value that is no counter
  private boolean changed;
  private TransactResponse.Builder response = TransactResponse.newBuilder();
  private @Nullable Write firstPart; // null if there is none
  private @Nullable Write lastPart;
  private @Nullable Write seen;

  /** Creates a prepared transaction; the limits of its request were checked. */
  public Transaction(TransactRequest request, Listener listener) {
    super(listener);
    this.request = request;
    then = operations(request.getThenList());
    otherwise = operations(request.getOtherwiseList());
    prepare(WriteKind.TRANSACTION, ByteString.EMPTY, ByteString.EMPTY, 0);
  }

  private Write[] operations(List<TransactOperation> requested) {
    return requested.stream().map(this::operation).toArray(Write[]::new);
  }

  private Write operation(TransactOperation requested) {
    final Write write = new Write(NOBODY);
    final ByteString key = requested.getKey();
    switch (requested.getOperationCase()) {
      case GET -> write.read(key);
      case PUT -> write.put(key, requested.getPut().getValue()).ttl(requested.getPut().getTtlMs());
      case DELETE -> write.delete(key);
      case INCREMENT ->
          write
              .increment(key, requested.getIncrement().getDelta())
              .ttl(requested.getIncrement().getTtlMs());
      case OPERATION_NOT_SET -> throw new IllegalArgumentException("the operation is missing");
    }
    write.whole = this;
    return write;
  }

  /** Whether a transaction may write an entry that is absent. */
  public static boolean mayCreate(TransactRequest request) {
    return Stream.of(request.getThenList(), request.getOtherwiseList())
        .flatMap(List::stream)
        .anyMatch(operation -> operation.hasPut() || operation.hasIncrement());
  }

  @Override
  public boolean isReading() {
    return Stream.of(then, otherwise).flatMap(Stream::of).allMatch(Write::isReading);
  }

  /** The answer if there is no entry at all, and none is written. */
  public static TransactResponse ofNothing(TransactRequest request) {
    final boolean allHold =
        request.getComparisonsList().stream().allMatch(comparison -> holds(comparison, 0, null));
    final int answers = allHold ? request.getThenCount() : request.getOtherwiseCount();
    return TransactResponse.newBuilder()
        .setSucceeded(allHold)
        .addAllAnswers(Collections.nCopies(answers, OperationAnswer.getDefaultInstance()))
        .build();
  }

  /**
   * Whether a comparison holds.
   *
   * @param version of the entry that was found; 0 if there is none
   * @param found the entry, null if there is none; for comparisons with a value alone
   */
  public static boolean holds(Comparison comparison, long version, @Nullable Entry found) {
    final int order;
    if (!comparison.hasValue()) {
      order = Long.compareUnsigned(version, comparison.getVersion());
    } else if (found == null) {
      return false;
    } else {
      order = KeyBounds.compare(found.getValue(), comparison.getValue());
    }
    return EntryFilter.holds(comparison.getRelation(), order);
  }

  /** Whether nothing was changed because an increment cannot be carried out. */
  public boolean isRefused() {
    return refused;
  }

  /** The answer, without the incarnation. */
  public TransactResponse.Builder response() {
    response.setSucceeded(succeeded).setVersion(changed ? version() : 0);
    for (final OperationAnswer.Builder answer : response.getAnswersBuilderList()) {
      if (answer.hasEntry() && answer.getEntry().getVersion() == 0) { // as the transaction left it
        answer.getEntryBuilder().setVersion(version());
      }
    }
    return response;
  }

  // Methods for the owner.

  /** Begins a validation. */
  void begin() {
    for (final Write[] operations : List.of(then, otherwise)) {
      for (final Write operation : operations) {
        operation.postponed();
        operation.nextPart = null;
      }
    }
    refused = false;
    changed = false;
    response = TransactResponse.newBuilder();
    firstPart = null;
    lastPart = null;
    seen = null;
  }

  List<Comparison> comparisons() {
    return request.getComparisonsList();
  }

  /** The operations of one of the two lists. */
  Write[] operations(boolean ofThen) {
    return ofThen ? then : otherwise;
  }

  /** Notes whether all comparisons held. */
  void compared(boolean allHold) {
    succeeded = allHold;
  }

  /** The operations of the list that is carried out. */
  Write[] chosen() {
    return operations(succeeded);
  }

  /** Notes a record of which the answer tells; null if there is none. */
  void sees(@Nullable Write record) {
    if (record != null && (seen == null || seen.version() < record.version())) {
      seen = record;
    }
  }

  /** The newest record of which the answer tells; null if there is none. */
  @Nullable Write seen() {
    return seen;
  }

  /** Makes an operation a part of the record. */
  void add(Write part) {
    if (lastPart == null) {
      firstPart = part;
    } else {
      lastPart.nextPart = part;
    }
    lastPart = part;
    changed = true;
  }

  /** The part that changes a key; null if there is none. */
  @Nullable Write part(ByteString key) {
    Write part = firstPart;
    while (part != null && !part.key().equals(key)) {
      part = part.nextPart;
    }
    return part;
  }

  /** Adds the answer of an operation. */
  void answer(OperationAnswer.Builder answer) {
    response.addAnswers(answer);
  }

  /** Ends a validation. */
  void validated() {
    keepAnswer(response.build().toByteString());
  }

  /** Ends a validation: an increment found a value that is no counter, so nothing is done. */
  void refuse(long valueLength) {
    refused = true;
    changed = false;
    firstPart = null;
    lastPart = null;
    refusedLength = valueLength;
    keepAnswer(ByteString.EMPTY);
  }

  @Override
  public @Nullable Write firstPart() {
    return firstPart;
  }

  @Override
  public boolean isUnchanged() {
    return !changed;
  }

  @Override
  public boolean isPositive() {
    return changed;
  }

  @Override
  public long detail() {
    return refused ? refusedLength : succeeded ? 1 : 0;
  }

  @Override
  public OutcomeKind outcomeKind() {
    return refused ? OutcomeKind.UNCHANGED : OutcomeKind.TRANSACTION;
  }

  @Override
  void logged(long lsn) {
    super.logged(lsn);
    for (Write part = firstPart; part != null; part = part.nextPart) {
      part.logged(lsn);
    }
  }

  @Override
  void kept(OutcomeKind kept, boolean isPositive, long keptDetail, ByteString answer) {
    begin();
    refused = kept == OutcomeKind.UNCHANGED;
    changed = isPositive;
    succeeded = keptDetail == 1;
    refusedLength = keptDetail;
    final TransactResponse known = KeptAnswer.parse(TransactResponse.parser(), answer);
    if (known != null) {
      response.mergeFrom(known);
    } else {
      response.setAnswersGone(chosen().length > 0);
    }
  }
}

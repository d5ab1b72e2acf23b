package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.partition.Transaction;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.TransactOperation;
import dev.ringfetch.index.v1.TransactRequest;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Limits of the parts of a transaction. The checks throw the status that names the limit. */
public final class TransactLimits {
  /** Bytes of a key in a status; the rest is left out. */
  private static final int SHOWN_BYTES = 64;

  private TransactLimits() {}

  /** Checks what is the same for each index. */
  public static void check(TransactRequest request) throws StatusException {
    checkCount("comparisons", request.getComparisonsCount());
    checkCount("then", request.getThenCount());
    checkCount("otherwise", request.getOtherwiseCount());
    long bytes = 0;
    for (final Comparison comparison : request.getComparisonsList()) {
      check(comparison);
      bytes += comparison.getKey().size() + comparison.getValue().size();
    }
    for (final List<TransactOperation> operations :
        List.of(request.getThenList(), request.getOtherwiseList())) {
      final Set<ByteString> changed = new HashSet<>();
      for (final TransactOperation operation : operations) {
        check(operation);
        if (!operation.hasGet() && !changed.add(operation.getKey())) {
          throw invalid("a key is changed twice: key=" + shown(operation.getKey()));
        }
        bytes += operation.getKey().size() + operation.getPut().getValue().size();
      }
    }
    if (bytes > Transaction.MAX_BYTES) {
      throw invalid(
          "the keys and values of the transaction are too long: size="
              + bytes
              + " limit="
              + Transaction.MAX_BYTES
              + " bytes");
    }
  }

  private static void checkCount(String name, int count) throws StatusException {
    if (count > Transaction.MAX_OPERATIONS) {
      throw invalid(
          "the transaction is too long: "
              + name
              + "="
              + count
              + " limit="
              + Transaction.MAX_OPERATIONS);
    }
  }

  private static void check(Comparison comparison) throws StatusException {
    RequestLimits.checkKey(comparison.getKey());
    RequestLimits.checkValue(comparison.getValue());
    if (comparison.getRelation() == Comparison.Relation.UNRECOGNIZED
        || comparison.getOperandCase() == Comparison.OperandCase.OPERAND_NOT_SET) {
      throw unknown("comparison");
    }
  }

  private static void check(TransactOperation operation) throws StatusException {
    RequestLimits.checkKey(operation.getKey());
    RequestLimits.checkValue(operation.getPut().getValue());
    RequestLimits.checkTtl(operation.getPut().getTtlMs());
    RequestLimits.checkTtl(operation.getIncrement().getTtlMs());
    if (operation.getOperationCase() == TransactOperation.OperationCase.OPERATION_NOT_SET) {
      throw unknown("operation");
    }
  }

  private static StatusException unknown(String what) {
    return Status.UNIMPLEMENTED
        .withDescription("the " + what + " is missing, or none that this server knows")
        .asException();
  }

  /**
   * Checks that all keys are of one partition, however many the index has: a transaction of keys
   * that share one by chance would fail on another day.
   */
  public static void checkKeys(ServedIndex index, TransactRequest request) throws StatusException {
    if (index.hash() == null) {
      return;
    }
    final List<ByteString> keys = keys(request).toList();
    for (final ByteString key : keys) {
      if (!HashIndex.tag(key).equals(HashIndex.tag(keys.get(0)))) {
        throw Status.FAILED_PRECONDITION
            .withDescription(
                "the keys of the transaction are of several partitions: key="
                    + shown(keys.get(0))
                    + " other="
                    + shown(key)
                    + "; in a hash index they have to begin with the same {tag}")
            .asException();
      }
    }
  }

  /** The keys of a transaction, as often as they come. */
  public static Stream<ByteString> keys(TransactRequest request) {
    return Stream.concat(
        request.getComparisonsList().stream().map(Comparison::getKey),
        Stream.of(request.getThenList(), request.getOtherwiseList())
            .flatMap(List::stream)
            .map(TransactOperation::getKey));
  }

  private static String shown(ByteString key) {
    return key.size() <= SHOWN_BYTES
        ? TextFormat.escapeBytes(key)
        : TextFormat.escapeBytes(key.substring(0, SHOWN_BYTES)) + "...";
  }

  private static StatusException invalid(String description) {
    return Status.INVALID_ARGUMENT.withDescription(description).asException();
  }
}

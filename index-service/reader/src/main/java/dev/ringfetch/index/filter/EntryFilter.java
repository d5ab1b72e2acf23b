package dev.ringfetch.index.filter;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Comparison.Relation;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FieldComparison;
import dev.ringfetch.index.v1.Filter;
import java.util.Arrays;
import java.util.List;

/**
 * A condition on an entry, checked and ready to be evaluated: the tree of a {@link Filter}, which
 * has at most {@link #MAX_NODES} nodes, so that an evaluation takes a bounded time. A comparison
 * holds only for entries that have its field.
 *
 * <p>Immutable; safe for use by many threads. An evaluation allocates nothing.
 */
public final class EntryFilter {
  /** Limit of the nodes of the tree. */
  public static final int MAX_NODES = 32;

  /** A node of the tree, for an entry whose value follows its key in the array. */
  @FunctionalInterface
  private interface Node {
    boolean accepts(byte[] array, int keyOffset, int keyLength, int valueLength, long version);
  }

  private final Node root;
  private int nodes; // until it is created

  /**
   * Creates the filter of a message.
   *
   * @throws IllegalArgumentException if a node is none, or there are too many; the text says which
   */
  public EntryFilter(Filter message) {
    root = node(message);
  }

  /** Whether an entry fulfils the condition; its value follows its key in the array. */
  public boolean accepts(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version) {
    return root.accepts(array, keyOffset, keyLength, valueLength, version);
  }

  /** Whether an entry fulfils the condition. */
  public boolean accepts(Entry entry) {
    return accepts(entry.getKey(), entry.getValue(), entry.getVersion());
  }

  /** Whether an entry fulfils the condition. Copies it. */
  public boolean accepts(ByteString key, ByteString value, long version) {
    final byte[] bytes = new byte[key.size() + value.size()];
    key.copyTo(bytes, 0);
    value.copyTo(bytes, key.size());
    return accepts(bytes, 0, key.size(), value.size(), version);
  }

  private Node node(Filter message) {
    if (++nodes > MAX_NODES) {
      throw new IllegalArgumentException("a filter has too many nodes: limit=" + MAX_NODES);
    }
    return switch (message.getNodeCase()) {
      case COMPARISON -> comparison(message.getComparison());
      case ALL -> all(nodes(message.getAll().getFiltersList()), true);
      case ANY -> all(nodes(message.getAny().getFiltersList()), false);
      case NOT -> not(node(message.getNot()));
      case NODE_NOT_SET ->
          throw new IllegalArgumentException(
              "a node of a filter is missing, or not known here: node=" + nodes);
    };
  }

  private Node[] nodes(List<Filter> filters) {
    if (filters.isEmpty()) {
      throw new IllegalArgumentException("a list of a filter is empty: node=" + nodes);
    }
    return filters.stream().map(this::node).toArray(Node[]::new);
  }

  private static Node not(Node node) {
    return (array, key, keyLength, valueLength, version) ->
        !node.accepts(array, key, keyLength, valueLength, version);
  }

  /** All of the nodes, or at least one: the first that is not as expected decides. */
  private static Node all(Node[] nodes, boolean all) {
    return (array, key, keyLength, valueLength, version) -> {
      for (final Node node : nodes) {
        if (node.accepts(array, key, keyLength, valueLength, version) != all) {
          return !all;
        }
      }
      return all;
    };
  }

  private static Node comparison(FieldComparison message) {
    final EntryField field = new EntryField(message.getField());
    final Relation relation = message.getRelation();
    if (relation == Relation.UNRECOGNIZED) {
      throw new IllegalArgumentException(
          "unknown relation of a comparison of "
              + field
              + ": relation="
              + message.getRelationValue());
    }
    final FieldComparison.OperandCase operand =
        field.encoding() == Field.Encoding.BYTES
            ? FieldComparison.OperandCase.BYTES
            : field.isFloating()
                ? FieldComparison.OperandCase.FLOATING
                : FieldComparison.OperandCase.INTEGER;
    if (message.getOperandCase() != operand) {
      throw new IllegalArgumentException("a comparison of " + field + " needs operand=" + operand);
    }
    return switch (operand) {
      case BYTES -> bytes(field, relation, message.getBytes().toByteArray());
      case FLOATING -> floating(field, relation, message.getFloating());
      default -> integer(field, relation, message.getInteger());
    };
  }

  private static Node bytes(EntryField field, Relation relation, byte[] operand) {
    return (array, key, keyLength, valueLength, version) -> {
      final int begin = field.begin(key, keyLength, valueLength);
      if (begin == EntryField.ABSENT) {
        return false;
      }
      final int end = field.end(begin, key, keyLength, valueLength);
      return holds(relation, Arrays.compareUnsigned(array, begin, end, operand, 0, operand.length));
    };
  }

  private static Node integer(EntryField field, Relation relation, long operand) {
    if (field.isUnsigned() && operand < 0) {
      throw new IllegalArgumentException(
          "a comparison of " + field + " with a negative number: integer=" + operand);
    }
    return (array, key, keyLength, valueLength, version) -> {
      final int begin = field.begin(key, keyLength, valueLength);
      if (begin == EntryField.ABSENT) {
        return false;
      }
      final long number = field.integer(array, begin, version);
      return holds(
          relation,
          field.isUnsigned()
              ? Long.compareUnsigned(number, operand)
              : Long.compare(number, operand));
    };
  }

  private static Node floating(EntryField field, Relation relation, double operand) {
    if (Double.isNaN(operand)) {
      throw new IllegalArgumentException("a comparison of " + field + " with floating=NaN");
    }
    return (array, key, keyLength, valueLength, version) -> {
      final int begin = field.begin(key, keyLength, valueLength);
      if (begin == EntryField.ABSENT) {
        return false;
      }
      final double number = field.floating(array, begin);
      if (Double.isNaN(number)) {
        return relation == Relation.NOT_EQUAL;
      }
      return holds(relation, number < operand ? -1 : number > operand ? 1 : 0); // -0 equals 0
    };
  }

  /** Whether a relation holds for a result of a comparison. */
  public static boolean holds(Relation relation, int order) {
    return switch (relation) {
      case EQUAL -> order == 0;
      case NOT_EQUAL -> order != 0;
      case GREATER -> order > 0;
      case LESS -> order < 0;
      case GREATER_OR_EQUAL -> order >= 0;
      case LESS_OR_EQUAL -> order <= 0;
      case UNRECOGNIZED -> throw new IllegalArgumentException("the relation is missing");
    };
  }
}

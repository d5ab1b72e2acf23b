package dev.ringfetch.index.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Comparison.Relation;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.Field.Encoding;
import dev.ringfetch.index.v1.Field.Source;
import dev.ringfetch.index.v1.FieldComparison;
import dev.ringfetch.index.v1.FieldSummary;
import dev.ringfetch.index.v1.Filter;
import dev.ringfetch.index.v1.FilterList;
import dev.ringfetch.index.v1.FollowRequest;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Conditions on entries, and sums of their fields, beside a model on big integers. */
class EntryFilterTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 20261129);
  private static final int ROUNDS = 20_000;

  private final Random random = new Random(SEED);

  private static Field.Builder field(Source source, int offset, int length, Encoding encoding) {
    return Field.newBuilder()
        .setSource(source)
        .setOffset(offset)
        .setLength(length)
        .setEncoding(encoding);
  }

  private static Filter filter(FieldComparison.Builder comparison) {
    return Filter.newBuilder().setComparison(comparison).build();
  }

  private static FieldComparison.Builder compare(Field.Builder field, Relation relation) {
    return FieldComparison.newBuilder().setField(field).setRelation(relation);
  }

  private static Filter integer(Field.Builder field, Relation relation, long operand) {
    return filter(compare(field, relation).setInteger(operand));
  }

  private static Filter floating(Field.Builder field, Relation relation, double operand) {
    return filter(compare(field, relation).setFloating(operand));
  }

  private static Filter bytes(Field.Builder field, Relation relation, String operand) {
    return filter(compare(field, relation).setBytes(ByteString.copyFromUtf8(operand)));
  }

  private static Filter not(Filter filter) {
    return Filter.newBuilder().setNot(filter).build();
  }

  private static Filter all(Filter... filters) {
    return Filter.newBuilder()
        .setAll(FilterList.newBuilder().addAllFilters(Arrays.asList(filters)))
        .build();
  }

  private static Filter any(Filter... filters) {
    return Filter.newBuilder()
        .setAny(FilterList.newBuilder().addAllFilters(Arrays.asList(filters)))
        .build();
  }

  private static boolean accepts(Filter filter, String key, byte[] value) {
    return new EntryFilter(filter)
        .accepts(
            Entry.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setValue(ByteString.copyFrom(value))
                .setVersion(7)
                .build());
  }

  private static boolean accepts(Filter filter, String key, String value) {
    return accepts(filter, key, ByteString.copyFromUtf8(value).toByteArray());
  }

  private Relation relation() {
    return Relation.forNumber(random.nextInt(6));
  }

  private static boolean holds(Relation relation, int order) {
    return switch (relation) {
      case EQUAL -> order == 0;
      case NOT_EQUAL -> order != 0;
      case GREATER -> order > 0;
      case LESS -> order < 0;
      case GREATER_OR_EQUAL -> order >= 0;
      default -> order <= 0;
    };
  }

  /** The number of these bytes, as a big integer has it. */
  private static BigInteger number(byte[] bytes, Encoding encoding, boolean bigEndian) {
    final byte[] copy = bytes.clone();
    if (!bigEndian && encoding != Encoding.ORDERED) {
      for (int i = 0; i < copy.length; i++) {
        copy[i] = bytes[copy.length - 1 - i];
      }
    }
    if (encoding == Encoding.ORDERED) {
      copy[0] ^= (byte) 0x80;
    }
    return encoding == Encoding.UNSIGNED ? new BigInteger(1, copy) : new BigInteger(copy);
  }

  @Test
  void numbersCompareAsBigIntegersDo() {
    int accepted = 0;
    for (int i = 0; i < ROUNDS; i++) {
      final Encoding encoding =
          new Encoding[] {Encoding.SIGNED, Encoding.UNSIGNED, Encoding.ORDERED}[random.nextInt(3)];
      final int length = 1 + random.nextInt(8);
      final int offset = random.nextInt(4);
      final boolean bigEndian = random.nextBoolean();
      final byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      final BigInteger number = number(bytes, encoding, bigEndian);
      final BigInteger near = number.add(BigInteger.valueOf(random.nextInt(3) - 1));
      final boolean fits = near.bitLength() < Long.SIZE && near.signum() >= 0;
      final long operand =
          fits || encoding != Encoding.UNSIGNED ? near.longValue() : random.nextInt(1000);
      final byte[] value = new byte[offset + length];
      System.arraycopy(bytes, 0, value, offset, length);
      final Relation relation = relation();
      final boolean accepts =
          accepts(
              integer(
                  field(Source.VALUE, offset, length, encoding).setBigEndian(bigEndian),
                  relation,
                  operand),
              "k",
              value);
      assertEquals(
          holds(relation, number.compareTo(BigInteger.valueOf(operand))),
          accepts,
          () -> "seed=" + SEED + " number=" + number + " " + relation + " " + operand);
      accepted += accepts ? 1 : 0;
    }
    assertTrue(accepted > ROUNDS / 10 && accepted < ROUNDS * 9 / 10, "accepted=" + accepted);
  }

  @Test
  void floatsCompareAsTheyDoInJava() {
    final double[] numbers = {
      0, -0.0, 1.5, -1.5, 1e300, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, Double.NaN
    };
    for (final double number : numbers) {
      final byte[] value =
          ByteBuffer.allocate(12)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putDouble(number)
              .putFloat((float) number)
              .array();
      for (final double operand : Arrays.copyOf(numbers, numbers.length - 1)) {
        for (int r = 0; r < 6; r++) {
          final Relation relation = Relation.forNumber(r);
          final boolean expected =
              switch (relation) {
                case EQUAL -> number == operand;
                case NOT_EQUAL -> number != operand;
                case GREATER -> number > operand;
                case LESS -> number < operand;
                case GREATER_OR_EQUAL -> number >= operand;
                default -> number <= operand;
              };
          final Field.Builder eight = field(Source.VALUE, 0, 8, Encoding.FLOATING);
          assertEquals(expected, accepts(floating(eight, relation, operand), "k", value));
          if (Math.abs(number) != 1e300 && Math.abs(operand) != 1e300) {
            final Field.Builder four = field(Source.VALUE, 8, 4, Encoding.FLOATING);
            assertEquals(expected, accepts(floating(four, relation, operand), "k", value));
          }
        }
      }
    }
  }

  @Test
  void bytesCompareAsUnsignedOnesAndAreCutAtTheirLength() {
    final Field.Builder prefix = field(Source.KEY, 0, 3, Encoding.BYTES);
    assertTrue(accepts(bytes(prefix, Relation.EQUAL, "de:"), "de:berlin", ""));
    assertFalse(accepts(bytes(prefix, Relation.EQUAL, "de:"), "fr:paris", ""));
    assertTrue(accepts(bytes(prefix, Relation.LESS, "de:"), "de", ""), "fewer bytes");
    final Field.Builder rest = field(Source.VALUE, 2, 0, Encoding.BYTES);
    assertTrue(accepts(bytes(rest, Relation.EQUAL, "cd"), "k", "abcd"));
    assertTrue(accepts(bytes(rest, Relation.EQUAL, ""), "k", "ab"), "it has none of the bytes");
    assertFalse(accepts(bytes(rest, Relation.NOT_EQUAL, "x"), "k", "a"), "no such field");
    final Field.Builder longest = field(Source.VALUE, 2, Integer.MAX_VALUE, Encoding.BYTES);
    assertTrue(accepts(bytes(longest, Relation.EQUAL, "cd"), "k", "abcd"));
    final EntryChain chain =
        new EntryChain(FollowRequest.newBuilder().setNext(longest).setHops(2).build(), 1 << 20);
    assertTrue(
        chain.take(
            Entry.newBuilder()
                .setKey(ByteString.copyFromUtf8("k"))
                .setValue(ByteString.copyFromUtf8("abcd"))
                .build()));
    assertEquals(ByteString.copyFromUtf8("cd"), chain.key());
    assertTrue(accepts(bytes(rest, Relation.GREATER, "\u007F"), "k", new byte[] {0, 0, -1}));
    assertTrue(
        accepts(bytes(field(Source.KEY, 0, 0, Encoding.BYTES), Relation.LESS, "b"), "a", "z"));
  }

  @Test
  void versionsAreUnsigned() {
    final Field.Builder version = Field.newBuilder().setSource(Source.VERSION);
    assertTrue(accepts(integer(version, Relation.GREATER_OR_EQUAL, 7), "k", ""));
    assertFalse(accepts(integer(version, Relation.GREATER, 7), "k", ""));
    assertTrue(
        new EntryFilter(integer(version, Relation.GREATER, Long.MAX_VALUE))
            .accepts(new byte[1], 0, 1, 0, -1));
  }

  /** No comparison holds without the field; what negates it does. */
  @Test
  void fieldsThatAnEntryDoesNotHave() {
    final Field.Builder field = field(Source.VALUE, 0, 8, Encoding.SIGNED);
    for (int r = 0; r < 6; r++) {
      final Filter comparison = integer(field, Relation.forNumber(r), 0);
      assertFalse(accepts(comparison, "k", new byte[7]));
      assertTrue(accepts(not(comparison), "k", new byte[7]));
    }
    assertTrue(accepts(integer(field, Relation.EQUAL, 0), "k", new byte[8]));
  }

  private Filter tree(int nodes, boolean[] result) {
    if (nodes < 3) {
      result[0] = random.nextBoolean();
      final Filter leaf =
          bytes(field(Source.KEY, 0, 1, Encoding.BYTES), Relation.EQUAL, result[0] ? "k" : "x");
      if (nodes == 1) {
        return leaf;
      }
      result[0] = !result[0];
      return not(leaf);
    }
    final int first = 1 + random.nextInt(nodes - 2);
    final boolean[] left = new boolean[1];
    final boolean[] right = new boolean[1];
    final Filter[] both = {tree(first, left), tree(nodes - 1 - first, right)};
    final boolean isAll = random.nextBoolean();
    result[0] = isAll ? left[0] && right[0] : left[0] || right[0];
    return isAll ? all(both) : any(both);
  }

  @Test
  void treesOfAllShapes() {
    for (int i = 0; i < ROUNDS / 10; i++) {
      final boolean[] expected = new boolean[1];
      final Filter filter = tree(1 + random.nextInt(EntryFilter.MAX_NODES), expected);
      assertEquals(expected[0], accepts(filter, "k", ""), "seed=" + SEED + "\n" + filter);
    }
    final Filter most = tree(EntryFilter.MAX_NODES, new boolean[1]);
    new EntryFilter(most);
    refused("too many nodes: limit=32", not(most));
  }

  private static void refused(String text, Filter filter) {
    final String message =
        assertThrows(IllegalArgumentException.class, () -> new EntryFilter(filter)).getMessage();
    assertTrue(message.contains(text), message);
  }

  @Test
  void whatIsNoFilterIsRefused() {
    final Field.Builder signed = field(Source.VALUE, 0, 8, Encoding.SIGNED);
    refused("missing", Filter.getDefaultInstance());
    refused("missing", not(Filter.getDefaultInstance()));
    refused("empty", all());
    refused("empty", any());
    refused("length=9", integer(field(Source.VALUE, 0, 9, Encoding.SIGNED), Relation.EQUAL, 1));
    refused("length=0", integer(field(Source.VALUE, 0, 0, Encoding.ORDERED), Relation.EQUAL, 1));
    refused("length=2", floating(field(Source.VALUE, 0, 2, Encoding.FLOATING), Relation.EQUAL, 1));
    refused("beyond", integer(field(Source.VALUE, -1, 8, Encoding.SIGNED), Relation.EQUAL, 1));
    refused("needs operand=INTEGER", floating(signed, Relation.EQUAL, 1));
    refused("needs operand=INTEGER", filter(compare(signed, Relation.EQUAL)));
    refused("negative", integer(field(Source.VALUE, 0, 8, Encoding.UNSIGNED), Relation.EQUAL, -1));
    refused(
        "NaN", floating(field(Source.VALUE, 0, 8, Encoding.FLOATING), Relation.EQUAL, Double.NaN));
    refused(
        "version has no offset",
        integer(Field.newBuilder().setSource(Source.VERSION).setOffset(1), Relation.EQUAL, 1));
    refused("unknown source", integer(signed.clone().setSourceValue(9), Relation.EQUAL, 1));
    refused("unknown relation", filter(compare(signed, Relation.EQUAL).setRelationValue(9)));
  }

  private FieldSummary summary(Field.Builder field, long... numbers) {
    final FieldSum sum = new FieldSum(field.build());
    for (final long number : numbers) {
      final byte[] bytes =
          ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN).putLong(1, number).array();
      sum.add(bytes, 0, 1, 8, number);
    }
    sum.add(new byte[8], 0, 1, 7, 0); // without the field, unless that is the version
    return sum.message();
  }

  @Test
  void sumsOfFields() {
    final FieldSummary signed = summary(field(Source.VALUE, 0, 8, Encoding.SIGNED), 3, -5, 4);
    assertEquals(3, signed.getEntries());
    assertEquals(2, signed.getSum());
    assertEquals(-5, signed.getLeast());
    assertEquals(4, signed.getGreatest());
    final FieldSummary unsigned = summary(field(Source.VALUE, 0, 7, Encoding.UNSIGNED), 3, -5, 4);
    assertEquals(0, unsigned.getLeast(), "an entry of 7 bytes has this field");
    assertEquals((1L << 56) - 5, unsigned.getGreatest());
    final FieldSummary floating =
        summary(
            field(Source.VALUE, 0, 8, Encoding.FLOATING),
            Double.doubleToLongBits(1.5),
            Double.doubleToLongBits(-0.5));
    assertEquals(1, floating.getFloatingSum());
    assertEquals(-0.5, floating.getFloatingLeast());
    assertEquals(1.5, floating.getFloatingGreatest());
    final FieldSummary none = summary(field(Source.VALUE, 0, 8, Encoding.FLOATING));
    assertEquals(FieldSummary.getDefaultInstance(), none);
    assertEquals(4, summary(Field.newBuilder().setSource(Source.VERSION), 1, 2, 3).getEntries());
    final String refusal =
        assertThrows(
                IllegalArgumentException.class,
                () -> summary(field(Source.VALUE, 0, 0, Encoding.BYTES)))
            .getMessage();
    assertTrue(refusal.contains("no number"), refusal);
    final Field.Builder eight = field(Source.VALUE, 0, 8, Encoding.UNSIGNED);
    assertThrows(IllegalArgumentException.class, () -> summary(eight));
  }
}

package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import dev.ringfetch.index.v1.KeyRange;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class CodecTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int ROUNDS = 20_000;
  private static final Comparator<ByteString> UNSIGNED =
      ByteString.unsignedLexicographicalComparator();

  /** The order of code points, as UTF-8 has it. */
  private static final Comparator<String> CODE_POINTS =
      (a, b) -> Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray());

  private static final Comparator<byte[]> BYTES = Arrays::compareUnsigned;

  private final Random random = new Random(SEED);

  @BeforeEach
  void printTheSeed() {
    System.out.println("ringfetch.seed=" + SEED);
  }

  private <T> void keepsOrder(OrderedCodec<T> codec, Supplier<T> values, Comparator<T> order) {
    int smaller = 0;
    for (int i = 0; i < ROUNDS; i++) {
      final T a = values.get();
      final T b = values.get();
      final ByteString x = codec.encode(a);
      final ByteString y = codec.encode(b);
      assertEquals(
          Integer.signum(order.compare(a, b)),
          Integer.signum(UNSIGNED.compare(x, y)),
          () -> "a=" + a + " b=" + b);
      assertEquals(0, order.compare(a, codec.decode(x)), () -> "a=" + a);
      assertTrue(codec.fixedLength() == 0 || codec.fixedLength() == x.size());
      smaller += order.compare(a, b) < 0 ? 1 : 0;
    }
    assertTrue(smaller > ROUNDS / 10, "smaller=" + smaller);
  }

  private long someLong() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(8) - 4;
      case 1 -> Long.MAX_VALUE - random.nextInt(3);
      case 2 -> Long.MIN_VALUE + random.nextInt(3);
      default -> random.nextLong();
    };
  }

  /** Few different characters, so that strings have prefixes in common. */
  private String someString() {
    final int[] characters = {0, 1, 'a', 'b', 0xE9, 0x7FF, 0xFFFF, 0xE000, 0x10000, 0x10FFFF, 0xFF};
    final StringBuilder text = new StringBuilder();
    final int length = random.nextInt(5);
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(characters[random.nextInt(characters.length)]);
    }
    return text.toString();
  }

  private byte[] someBytes() {
    final byte[] alphabet = {0, 1, 2, (byte) 0xFE, (byte) 0xFF};
    final byte[] bytes = new byte[random.nextInt(5)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = alphabet[random.nextInt(alphabet.length)];
    }
    return bytes;
  }

  private Instant someInstant() {
    return random.nextInt(10) == 0
        ? (random.nextBoolean() ? Instant.MIN : Instant.MAX)
        : Instant.ofEpochSecond(random.nextInt(6) - 3, random.nextInt(3) - 1);
  }

  private UUID someUuid() {
    return new UUID(someLong(), someLong());
  }

  @Test
  void longsKeepTheirOrder() {
    keepsOrder(Codec.int64(), this::someLong, Comparator.naturalOrder());
  }

  @Test
  void stringsKeepTheOrderOfCodePoints() {
    keepsOrder(Codec.string(), this::someString, CODE_POINTS);
    // Not that of String.
    assertTrue("\uFFFF".compareTo("\uD800\uDC00") > 0);
    assertTrue(CODE_POINTS.compare("\uFFFF", "\uD800\uDC00") < 0);
  }

  @Test
  void bytesKeepTheirOrder() {
    keepsOrder(Codec.bytes(), this::someBytes, BYTES);
    keepsOrder(Codec.byteString(), () -> ByteString.copyFrom(someBytes()), UNSIGNED);
  }

  @Test
  void instantsKeepTheirOrder() {
    keepsOrder(Codec.instant(), this::someInstant, Comparator.naturalOrder());
  }

  @Test
  void uuidsKeepTheOrderOfTheirText() {
    keepsOrder(Codec.uuid(), this::someUuid, Comparator.comparing(UUID::toString));
  }

  @Test
  void pairsKeepTheOrderOfTheirComponents() {
    keepsOrder(
        Codec.pair(Codec.bytes(), Codec.bytes()),
        () -> new Pair<>(someBytes(), someBytes()),
        Comparator.comparing((Pair<byte[], byte[]> pair) -> pair.first(), BYTES)
            .thenComparing(Pair::second, BYTES));
    keepsOrder(
        Codec.pair(Codec.int64(), Codec.string()),
        () -> new Pair<>(someLong(), someString()),
        Comparator.comparing((Pair<Long, String> pair) -> pair.first())
            .thenComparing(Pair::second, CODE_POINTS));
    keepsOrder(
        Codec.pair(Codec.string(), Codec.int64()),
        () -> new Pair<>(someString(), someLong()),
        Comparator.comparing((Pair<String, Long> pair) -> pair.first(), CODE_POINTS)
            .thenComparing(Pair::second));
    keepsOrder(
        Codec.pair(Codec.int64(), Codec.uuid()),
        () -> new Pair<>(someLong(), someUuid()),
        Comparator.comparing((Pair<Long, UUID> pair) -> pair.first())
            .thenComparing(pair -> pair.second().toString()));
  }

  @Test
  void triplesKeepTheOrderOfTheirComponents() {
    keepsOrder(
        Codec.triple(Codec.bytes(), Codec.instant(), Codec.bytes()),
        () -> new Triple<>(someBytes(), someInstant(), someBytes()),
        Comparator.comparing((Triple<byte[], Instant, byte[]> key) -> key.first(), BYTES)
            .thenComparing(Triple::second)
            .thenComparing(Triple::third, BYTES));
    keepsOrder(
        Codec.triple(Codec.bytes(), Codec.bytes(), Codec.int64()),
        () -> new Triple<>(someBytes(), someBytes(), someLong()),
        Comparator.comparing((Triple<byte[], byte[], Long> key) -> key.first(), BYTES)
            .thenComparing(Triple::second, BYTES)
            .thenComparing(Triple::third));
  }

  @Test
  void aPairMayBeAComponent() {
    keepsOrder(
        Codec.pair(Codec.pair(Codec.bytes(), Codec.bytes()), Codec.bytes()),
        () -> new Pair<>(new Pair<>(someBytes(), someBytes()), someBytes()),
        Comparator.comparing((Pair<Pair<byte[], byte[]>, byte[]> key) -> key.first().first(), BYTES)
            .thenComparing(key -> key.first().second(), BYTES)
            .thenComparing(Pair::second, BYTES));
  }

  /** What begins with the prefix of a component has that component, and the other way round. */
  @Test
  void prefixesOfComponentsAreExact() {
    final PairCodec<byte[], byte[]> pairs = Codec.pair(Codec.bytes(), Codec.bytes());
    final TripleCodec<byte[], byte[], byte[]> triples =
        Codec.triple(Codec.bytes(), Codec.bytes(), Codec.bytes());
    int equal = 0;
    for (int i = 0; i < ROUNDS; i++) {
      final byte[] a = someBytes();
      final byte[] b = someBytes();
      final byte[] c = someBytes();
      final ByteString pair = pairs.encode(new Pair<>(a, c));
      final KeyRange range = pairs.startingWith(b).encode(pairs);
      assertEquals(Arrays.equals(a, b), pair.startsWith(range.getPrefix()));
      final ByteString triple = triples.encode(new Triple<>(a, c, b));
      assertTrue(triple.startsWith(triples.startingWith(a).encode(triples).getPrefix()));
      assertEquals(
          Arrays.equals(b, c),
          triple.startsWith(triples.startingWith(a, b).encode(triples).getPrefix()));
      equal += Arrays.equals(a, b) ? 1 : 0;
    }
    assertTrue(equal > 0);
  }

  @Test
  void messagesComeBack() {
    final Codec<Timestamp> codec = Codec.message(Timestamp.getDefaultInstance());
    final Timestamp time = Timestamp.newBuilder().setSeconds(7).build();
    assertEquals(time, codec.decode(codec.encode(time)));
    final IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> codec.decode(ByteString.copyFromUtf8("\u0001x")));
    assertTrue(e.getMessage().contains("google.protobuf.Timestamp"), e.getMessage());
  }

  @Test
  void arraysAreCopied() {
    final byte[] array = {1, 2};
    final ByteString bytes = Codec.bytes().encode(array);
    array[0] = 9;
    assertArrayEquals(new byte[] {1, 2}, Codec.bytes().decode(bytes));
  }

  @Test
  void whatHasNoFormIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> Codec.string().encode("a\uD800"));
    assertThrows(IllegalArgumentException.class, () -> Codec.string().encode("\uDC00\uD800"));
    assertThrows(
        IllegalArgumentException.class,
        () -> Codec.string().decode(ByteString.copyFrom(new byte[] {(byte) 0xFF})));
    assertThrows(
        IllegalArgumentException.class, () -> Codec.int64().decode(ByteString.copyFromUtf8("abc")));
    assertThrows(
        IllegalArgumentException.class,
        () -> Codec.instant().decode(ByteString.copyFrom(new byte[12])));
    final PairCodec<String, String> pairs = Codec.pair(Codec.string(), Codec.string());
    assertThrows(
        IllegalArgumentException.class, () -> pairs.decode(ByteString.copyFromUtf8("abc")));
    assertThrows(
        IllegalArgumentException.class, () -> pairs.decode(ByteString.copyFromUtf8("a\0")));
    assertThrows(
        IllegalArgumentException.class, () -> pairs.decode(ByteString.copyFromUtf8("a\0b")));
    final PairCodec<Long, String> fixed = Codec.pair(Codec.int64(), Codec.string());
    assertThrows(
        IllegalArgumentException.class, () -> fixed.decode(ByteString.copyFromUtf8("abc")));
  }

  /** In the protocol an empty bound means none. */
  @Test
  void emptyBoundsAreNotMistakenForNone() {
    final KeyRange below = Range.lessThan("").encode(Codec.string());
    assertTrue(UNSIGNED.compare(below.getStart(), below.getEnd()) >= 0);
    assertTrue(!below.getEnd().isEmpty());
    assertEquals(
        ByteString.copyFrom(new byte[1]), Range.atMost("").encode(Codec.string()).getEnd());
  }
}

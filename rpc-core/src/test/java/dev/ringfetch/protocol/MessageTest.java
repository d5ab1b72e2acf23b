package dev.ringfetch.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import dev.ringfetch.v1.Session;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The handshake's messages against what protobuf makes of {@code session.proto}. */
class MessageTest {
  private static final int ROUNDS = 300;

  static Stream<MessageType<?>> types() {
    return Stream.of(
        OpenRequest.TYPE,
        OpenResponse.TYPE,
        Hello.TYPE,
        FabricOffer.TYPE,
        RingSizes.TYPE,
        Answer.TYPE,
        Refusal.TYPE,
        Decline.TYPE);
  }

  private static Descriptor descriptor(MessageType<?> type) {
    return Session.getDescriptor().findMessageTypeByName(type.name());
  }

  @Test
  void everyMessageOfTheContractIsThere() {
    assertEquals(
        new HashSet<>(
            Session.getDescriptor().getMessageTypes().stream().map(Descriptor::getName).toList()),
        new HashSet<>(types().map(MessageType::name).toList()));
  }

  @ParameterizedTest
  @MethodSource("types")
  void fieldsAreThoseOfTheContract(MessageType<?> type) {
    assertEquals(
        descriptor(type).getFields().stream().map(f -> f.getNumber() + " " + f.getName()).toList(),
        type.fields().stream().map(f -> f.number() + " " + f.name()).toList());
  }

  @ParameterizedTest
  @MethodSource("types")
  void eachFieldAloneHasProtobufsBytes(MessageType<?> type) throws Exception {
    final Descriptor descriptor = descriptor(type);
    for (final FieldDescriptor field : descriptor.getFields()) {
      for (int seed = 0; seed < 20; seed++) {
        final DynamicMessage.Builder theirs = DynamicMessage.newBuilder(descriptor);
        fill(theirs, field, new Random(seed));
        assertSame(type, theirs.build());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("types")
  void allFieldsTogetherHaveProtobufsBytes(MessageType<?> type) throws Exception {
    final Random random = new Random(5);
    for (int round = 0; round < ROUNDS; round++) {
      assertSame(type, random(descriptor(type), random));
    }
  }

  /** Ours, decoded from protobuf's bytes, are encoded as protobuf encodes them. */
  private static void assertSame(MessageType<?> type, DynamicMessage theirs) throws Exception {
    final byte[] bytes = theirs.toByteArray();
    final Message<?> ours = type.parse(bytes);
    assertArrayEquals(bytes, ours.encode(), () -> type.name() + " " + theirs);
    assertEquals(theirs, DynamicMessage.parseFrom(theirs.getDescriptorForType(), ours.encode()));
    for (final FieldDescriptor field : theirs.getDescriptorForType().getFields()) {
      assertEquals(
          field.isRepeated() ? theirs.getRepeatedFieldCount(field) > 0 : theirs.hasField(field),
          has(ours, field.getNumber()),
          field.getFullName());
    }
  }

  private static <M extends Message<M>> boolean has(Message<M> message, int number) {
    return message.type().fields().stream()
        .anyMatch(field -> field.number() == number && message.has(field));
  }

  private static DynamicMessage random(Descriptor descriptor, Random random) {
    final DynamicMessage.Builder message = DynamicMessage.newBuilder(descriptor);
    for (final FieldDescriptor field : descriptor.getFields()) {
      if (random.nextInt(3) > 0) {
        fill(message, field, random);
      }
    }
    return message.build();
  }

  private static void fill(DynamicMessage.Builder message, FieldDescriptor field, Random random) {
    if (field.isRepeated()) {
      for (int i = random.nextInt(4); i >= 0; i--) {
        message.addRepeatedField(field, value(field, random));
      }
    } else {
      message.setField(field, value(field, random));
    }
  }

  private static Object value(FieldDescriptor field, Random random) {
    return switch (field.getType()) {
      case UINT32 -> random.nextInt() >>> random.nextInt(Integer.SIZE);
      case FIXED64 -> random.nextInt(4) == 0 ? 0L : random.nextLong();
      case STRING ->
          List.of("", "shm", "ünïcödé \uD83D\uDE00", "x".repeat(200)).get(random.nextInt(4));
      case BYTES -> {
        final byte[] bytes = new byte[random.nextInt(300)];
        random.nextBytes(bytes);
        yield ByteString.copyFrom(bytes);
      }
      case MESSAGE -> random(field.getMessageType(), random);
      default -> throw new AssertionError(field.getType());
    };
  }

  /** As a newer version would send them, of each type that proto3 has. */
  @ParameterizedTest
  @MethodSource("types")
  void unknownFieldsAreSkipped(MessageType<?> type) throws Exception {
    final DynamicMessage known = random(descriptor(type), new Random(1));
    final UnknownFieldSet.Field values =
        UnknownFieldSet.Field.newBuilder()
            .addVarint(-1)
            .addFixed32(-1)
            .addFixed64(-1)
            .addLengthDelimited(ByteString.copyFrom(new byte[300]))
            .build();
    final DynamicMessage newer =
        known.toBuilder()
            .setUnknownFields(
                UnknownFieldSet.newBuilder()
                    .addField(100, values)
                    .addField((1 << 29) - 1, values)
                    .build())
            .build();
    assertArrayEquals(known.toByteArray(), type.parse(newer.toByteArray()).encode());
  }

  /** A field whose type has changed is unknown, as protobuf has it. */
  @Test
  void fieldOfAnotherTypeIsSkipped() throws Exception {
    final byte[] text = {(1 << 3) | Decoder.BYTES, 2, 'a', 'b'};
    assertEquals(new RingSizes(), RingSizes.TYPE.parse(text));
    assertEquals(0, dev.ringfetch.v1.Geometry.parseFrom(text).getRequestRingBytes());
  }

  @ParameterizedTest
  @CsvSource({
    "'', no field",
    "0801 0802, the last number counts",
    "08ffffffffffffffffff01, a number that is too long for the field",
    "08ffffffff1f, bits above the field's",
  })
  void oddNumbersMeanWhatTheyMeanToProtobuf(String hex, String what) throws Exception {
    final byte[] bytes = bytes(hex);
    assertEquals(
        dev.ringfetch.v1.Geometry.parseFrom(bytes).getRequestRingBytes(),
        RingSizes.TYPE.parse(bytes).get(RingSizes.REQUEST_RING_BYTES),
        what);
  }

  @Test
  void messageInPartsIsPutTogether() throws Exception {
    final byte[] parts = bytes("22020801 22021002");
    final RingSizes sizes = Hello.TYPE.parse(parts).get(Hello.GEOMETRY);
    assertEquals(1, sizes.get(RingSizes.REQUEST_RING_BYTES));
    assertEquals(2, sizes.get(RingSizes.RESPONSE_RING_BYTES));
    assertArrayEquals(
        dev.ringfetch.v1.Hello.parseFrom(parts).toByteArray(), Hello.TYPE.parse(parts).encode());
  }

  @Test
  void theLastStepCounts() throws Exception {
    final OpenRequest both = OpenRequest.TYPE.parse(bytes("0a00 1200"));
    assertFalse(both.has(OpenRequest.HELLO));
    assertTrue(both.has(OpenRequest.DECLINE));
    assertTrue(dev.ringfetch.v1.OpenRequest.parseFrom(bytes("0a00 1200")).hasDecline());
  }

  @ParameterizedTest
  @CsvSource({
    "08, the message ends within a value: length=1 position=1 of 1",
    "0a05 61, the message ends within a value: length=5 position=2 of 3",
    "0affffffff0f, the message ends within a value: length=4294967295 position=6 of 6",
    "0a80808080f8ffffffff01 00, the message ends within a value: length=2147483648 position=11 of 12",
    "08ffffffffffffffffffff01, a number has more than 10 bytes: position=11",
    "00, FabricOffer has a field without a number",
    "0a01ff, text is not UTF-8: position=2",
    "0a02c080, text is not UTF-8: position=2",
    "0a03eda080, text is not UTF-8: position=2",
    "13, unknown wire type=3 before position=1",
    "14, unknown wire type=4 before position=1",
    "16, unknown wire type=6 before position=1",
    "1d000000, the message ends within a value: length=4 position=1 of 4",
    "1900000000000000, the message ends within a value: length=8 position=1 of 8",
  })
  void bytesThatAreNoMessage(String hex, String reason) {
    final byte[] bytes = bytes(hex);
    final MalformedMessageException e =
        assertThrows(MalformedMessageException.class, () -> FabricOffer.TYPE.parse(bytes));
    assertEquals(reason, e.getMessage());
    assertThrows(
        InvalidProtocolBufferException.class, () -> dev.ringfetch.v1.FabricOffer.parseFrom(bytes));
  }

  @Test
  void messageThatIsTooLong() {
    final byte[] longest = new byte[MessageType.MAX_LENGTH + 1];
    final MalformedMessageException e =
        assertThrows(MalformedMessageException.class, () -> Hello.TYPE.parse(longest));
    assertEquals("Hello is too long: length=4194305 max=4194304", e.getMessage());
  }

  /** Two bytes on the wire are far more as an object. */
  @Test
  void moreFabricsThanThereCanBe() throws Exception {
    final byte[] most = bytes("1a00".repeat(1024));
    assertEquals(1024, Hello.TYPE.parse(most).get(Hello.FABRICS).size());
    final MalformedMessageException e =
        assertThrows(
            MalformedMessageException.class, () -> Hello.TYPE.parse(bytes("1a00".repeat(1025))));
    assertEquals("fabrics has more values than max=1024", e.getMessage());
  }

  /** Bytes that were changed, cut or put together: an answer or a refusal, as protobuf gives it. */
  @ParameterizedTest
  @MethodSource("types")
  void changedBytesAreTakenOrRefusedAsProtobufDoes(MessageType<?> type) throws Exception {
    final Random random = new Random(7);
    final Descriptor descriptor = descriptor(type);
    int refused = 0;
    for (int round = 0; round < 3000; round++) {
      byte[] bytes = random(descriptor, random).toByteArray();
      if (bytes.length == 0) {
        continue;
      }
      for (int i = random.nextInt(3); i >= 0; i--) {
        bytes[random.nextInt(Math.min(bytes.length, 40))] = (byte) random.nextInt();
      }
      if (random.nextInt(4) == 0) {
        bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
      }
      refused += compare(type, descriptor, bytes);
    }
    assertTrue(refused > 100, () -> "hardly any was malformed");
  }

  private static int compare(MessageType<?> type, Descriptor descriptor, byte[] bytes)
      throws Exception {
    final DynamicMessage theirs;
    try {
      theirs = DynamicMessage.parseFrom(descriptor, bytes);
    } catch (InvalidProtocolBufferException e) {
      assertThrows(MalformedMessageException.class, () -> type.parse(bytes), e::getMessage);
      return 1;
    }
    final Message<?> ours;
    try {
      ours = type.parse(bytes);
    } catch (MalformedMessageException e) {
      assertTrue(e.getMessage().contains("wire type=3"), e::getMessage); // groups, of proto2
      return 1;
    }
    assertArrayEquals(withoutUnknown(theirs).toByteArray(), ours.encode());
    return 0;
  }

  private static DynamicMessage withoutUnknown(DynamicMessage message) {
    final DynamicMessage.Builder known =
        message.toBuilder().setUnknownFields(UnknownFieldSet.getDefaultInstance());
    message
        .getAllFields()
        .forEach(
            (field, value) -> {
              if (field.getType() != FieldDescriptor.Type.MESSAGE) {
                return;
              }
              if (field.isRepeated()) {
                final List<DynamicMessage> elements = new ArrayList<>();
                ((List<?>) value).forEach(e -> elements.add(withoutUnknown((DynamicMessage) e)));
                known.setField(field, elements);
              } else {
                known.setField(field, withoutUnknown((DynamicMessage) value));
              }
            });
    return known.build();
  }

  @Test
  void messagesAreEqualThatAreEncodedAlike() {
    final Set<Message<?>> different =
        Set.of(
            new Refusal(),
            new Decline(),
            new Refusal().set(Refusal.REASON, "full"),
            new Answer().set(Answer.TOKEN, new byte[] {1}));
    assertEquals(4, different.size());
    assertEquals(new Refusal(), new Refusal().set(Refusal.REASON, ""));
    assertEquals(
        new Answer().set(Answer.TOKEN, new byte[] {1}),
        new Answer().set(Answer.TOKEN, new byte[] {1}));
    assertNotEquals(new Hello(), new Hello().set(Hello.GEOMETRY, new RingSizes()));
  }

  @Test
  void tokenIsNotInTheText() {
    final Answer answer =
        new Answer().set(Answer.VERSION, -1).set(Answer.TOKEN, new byte[] {1, 2, 3});
    assertEquals(
        "OpenResponse{answer=Answer{version=4294967295 token=3 bytes}}",
        new OpenResponse().set(OpenResponse.ANSWER, answer).toString());
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }
}

package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;
import static org.mockito.Mockito.when;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import dev.ringfetch.call.RegisteredInput;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.bulk.TestLease;
import dev.ringfetch.session.unit.UnitBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages with a buffer of their own: as any transport reads them, and as the ring takes them. */
class RegisteredMessageTest {
  private static final int LENGTH = 300; // so that its own length takes two bytes

  private final byte[] content = new byte[LENGTH];
  private final Any whole;
  private final RegisteredInput input;

  RegisteredMessageTest() {
    for (int i = 0; i < LENGTH; i++) {
      content[i] = (byte) i; // of which half are negative
    }
    whole = Any.newBuilder().setTypeUrl("url").setValue(ByteString.copyFrom(content)).build();
    final RegisteredBuffer buffer = RegisteredBuffer.ofHeap(LENGTH);
    buffer.buffer().put(content);
    final Any rest = Any.newBuilder().setTypeUrl("url").build();
    input = RegisteredMessage.of(rest, Any.VALUE_FIELD_NUMBER, buffer).stream();
  }

  @Test
  void itIsTheMessageByteByByte() throws IOException {
    final byte[] read = new byte[whole.getSerializedSize()];
    for (int i = 0; i < read.length; i++) {
      assertEquals(read.length - i, input.available());
      final int value = input.read();
      assertTrue(value >= 0, "byte " + i + " of " + read.length);
      read[i] = (byte) value;
    }
    assertEquals(whole, Any.parseFrom(read));
    assertEquals(0, input.available());
    assertEquals(-1, input.read());
    assertEquals(-1, input.read(), "for good");
  }

  /** In pieces that end within its head, at its end, and behind it. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7, 8, 9, 299, 300, 1000})
  void itIsTheMessageInPieces(int piece) throws IOException {
    final byte[] read = new byte[whole.getSerializedSize()];
    final byte[] bytes = new byte[piece + 2];
    int done = 0;
    while (done < read.length) {
      Arrays.fill(bytes, (byte) 0x55);
      final int count = input.read(bytes, 1, piece);
      assertTrue(count > 0 && count <= piece, "count=" + count);
      assertEquals(0x55, bytes[0]);
      assertEquals(0x55, bytes[count + 1], "beyond what it has said");
      System.arraycopy(bytes, 1, read, done, count);
      done += count;
      assertEquals(read.length - done, input.available());
    }
    assertEquals(whole, Any.parseFrom(read));
    assertEquals(0, input.read(bytes, 0, 0));
    assertEquals(-1, input.read(bytes, 0, 1));
  }

  @Test
  void nothingIsReadIntoNothing() throws IOException {
    assertEquals(0, input.read(new byte[0], 0, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> input.read(new byte[4], 2, 3));
    assertThrows(IndexOutOfBoundsException.class, () -> input.read(new byte[4], -1, 3));
    assertEquals(whole.getSerializedSize(), input.available());
    assertArrayEquals(whole.toByteArray(), input.readAllBytes());
  }

  /** Position and limit of the buffer are its maker's. */
  @Test
  void itIsAllOfTheBuffer() throws IOException {
    final RegisteredBuffer buffer = RegisteredBuffer.ofHeap(LENGTH);
    buffer.buffer().put(content).position(17).limit(20);
    final RegisteredInput bare = RegisteredMessage.of(buffer).stream();
    assertEquals(LENGTH, bare.available());
    assertArrayEquals(content, bare.readAllBytes());
    assertEquals(17, buffer.buffer().position());
    assertEquals(20, buffer.buffer().limit());
  }

  @Test
  void ofOrdinaryMemoryNothingIsAddedToAUnit() throws IOException {
    final UnitBuffer unit = new UnitBuffer();
    assertFalse(input.addTo(unit, null));
    assertEquals(0, unit.length());
    assertArrayEquals(whole.toByteArray(), input.readAllBytes());
  }

  @Test
  void closedBufferIsOfNoUse() {
    final RegisteredBuffer buffer = RegisteredBuffer.ofHeap(LENGTH);
    assertEquals(LENGTH, buffer.length());
    assertFalse(buffer.isRegistered());
    buffer.close();
    buffer.close();
    assertThrows(IllegalStateException.class, buffer::buffer);
    final RegisteredMessage late = RegisteredMessage.of(buffer);
    assertThrows(IllegalStateException.class, late::stream);
  }

  private final Segment segment = mock(Segment.class);

  private RegisteredBuffer registered() {
    when(segment.buffer()).thenReturn(ByteBuffer.allocate(LENGTH));
    when(segment.length()).thenReturn(LENGTH);
    when(segment.retain()).thenReturn(segment);
    when(segment.lease(any())).thenAnswer(call -> TestLease.of(segment, call.getArgument(0)));
    return RegisteredBuffer.of(segment);
  }

  /** Each part has a share of the memory: the peer reads it when its maker has closed it. */
  @Test
  void ofItsPoolEveryByteIsAddedWhereItStands() {
    final BulkPool pool = mock(BulkPool.class);
    when(pool.owns(segment)).thenReturn(true);
    when(pool.segmentLength()).thenReturn(128);
    final UnitBuffer unit = mock(UnitBuffer.class);
    assertTrue(RegisteredMessage.of(registered()).stream().addTo(unit, pool));
    verify(unit).addSegment(segment, 0, 128);
    verify(unit).addSegment(segment, 128, 128);
    verify(unit).addSegment(segment, 256, LENGTH - 256);
    verify(unit, times(3)).addSegment(any(), anyInt(), anyInt());
    verify(segment, times(3)).retain();
  }

  @Test
  void ofAnotherPoolNothingIsAdded() {
    final BulkPool pool = mock(BulkPool.class);
    final UnitBuffer unit = mock(UnitBuffer.class);
    assertFalse(RegisteredMessage.of(registered()).stream().addTo(unit, pool));
    verifyNoInteractions(unit);
    verify(segment, never()).retain();
  }

  /** A second time it would give up what the peer still reads. */
  @Test
  void memoryIsGivenUpOnce() {
    final RegisteredBuffer buffer = registered();
    buffer.close();
    buffer.close();
    verify(segment, times(1)).release();
  }
}

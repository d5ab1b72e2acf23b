package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ringfetch.session.Session;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.bulk.TestLease;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class BufferAllocatorTest {
  private static final int THRESHOLD = 100_000;

  /** What the session would not put in registered memory itself is not worth it here, either. */
  @Test
  void thresholdOfTheSessionIsHeeded() {
    final Segment segment = mock(Segment.class);
    when(segment.buffer()).thenReturn(ByteBuffer.allocate(1));
    when(segment.lease(any())).thenAnswer(call -> TestLease.of(segment, call.getArgument(0)));
    final BulkPool pool = mock(BulkPool.class);
    when(pool.threshold()).thenReturn(THRESHOLD);
    when(pool.allocate(anyInt())).thenReturn(segment);
    final Session session = mock(Session.class);
    when(session.bulk()).thenReturn(pool);
    final BufferAllocator allocator = new BufferAllocator(() -> session);
    assertFalse(allocator.allocate(THRESHOLD).isRegistered());
    verify(pool, never()).allocate(anyInt());
    assertTrue(allocator.allocate(THRESHOLD + 1).isRegistered());
  }
}

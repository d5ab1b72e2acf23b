package dev.ringfetch.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayInputStream;
import org.junit.jupiter.api.Test;

/** Faults that come up while a long message is written. */
class RegisteredFailureTest {
  private final BulkPool pool = mock(BulkPool.class);
  private final InternalError fault = new InternalError("by a test");

  private void write() throws Exception {
    doThrow(fault).when(pool).verify();
    when(pool.segmentLength()).thenReturn(64);
    when(pool.allocate(anyInt())).thenReturn(null);
    Messages.write(new ByteArrayInputStream(new byte[100]), new UnitBuffer(), 1000, pool);
  }

  @Test
  void memoryThatIsTakenAwayIsTheEndOfTheCall() {
    when(pool.endIfGone(any())).thenReturn(true);
    StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, this::write);
    assertEquals(Status.Code.UNAVAILABLE, thrown.getStatus().getCode());
    assertSame(fault, thrown.getCause());
  }

  @Test
  void faultOfSomethingElseStaysWhatItIs() {
    when(pool.endIfGone(any())).thenReturn(false);
    assertSame(fault, assertThrows(InternalError.class, this::write));
  }
}

package dev.ringfetch.session.bulk;

import static org.mockito.Mockito.mock;

import java.lang.ref.ReferenceQueue;

/** Leases of segments that belong to no session, for tests of what holds them. */
public final class TestLease {
  private TestLease() {}

  /** A lease that nobody looks after. A real one: references cannot be mocked. */
  public static Lease of(Segment segment, Object holder) {
    return new Lease(mock(Leases.class), segment, holder, new ReferenceQueue<>(), null);
  }
}

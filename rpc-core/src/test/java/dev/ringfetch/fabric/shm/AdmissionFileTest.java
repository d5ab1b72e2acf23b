package dev.ringfetch.fabric.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.shm.AdmissionFile.MappedAdmission;
import org.junit.jupiter.api.Test;

/** Looks at an admission to which the error of a page that is gone comes late. */
class AdmissionFileTest {
  private final Page page = new Page();
  private final MappedAdmission admission = new MappedAdmission(page);

  /** Throws the pending error of the thread when it is used. */
  private static final class Page extends DirectRegion {
    private InternalError pending;
    private boolean isGone;

    Page() {
      super(64);
      putLong(0, 1);
    }

    @Override
    public long getLongAcquire(int index) {
      verify();
      if (isGone) {
        pending = new InternalError("the page of the admission is gone");
        return 0;
      }
      return super.getLongAcquire(index);
    }

    @Override
    public void verify() {
      final InternalError thrown = pending;
      pending = null;
      if (thrown != null) {
        throw thrown;
      }
    }
  }

  /** One name of many was truncated: the others are still granted. */
  @Test
  void errorOfOtherMemoryEndsNoAdmission() {
    final InternalError other = new InternalError("the page of a value is gone");
    page.pending = other;
    assertSame(other, assertThrows(InternalError.class, admission::isOpen));
    assertEquals(0, other.getSuppressed().length);
    assertTrue(admission.isOpen());
  }

  @Test
  void pageThatIsGoneClosesTheAdmission() {
    page.isGone = true;
    assertFalse(admission.isOpen());
    assertNull(page.pending);
    page.pending = new InternalError("the page of a value is gone, too");
    assertFalse(admission.isOpen());
    assertNull(page.pending);
  }

  @Test
  void revokedAdmissionIsClosedBesideAnErrorOfOtherMemory() {
    page.putLong(0, 2);
    assertFalse(admission.isOpen());
    page.pending = new InternalError("the page of a value is gone");
    assertFalse(admission.isOpen());
    assertNull(page.pending);
  }
}

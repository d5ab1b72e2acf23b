package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.index.linearizability.Call.Kind;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the model of a key allows, and what not. */
final class RegisterTest {
  private static final Call GET = Call.read(Kind.GET);
  private static final Register ABSENT = new Register(false, 0, 7, true);
  private static final Register ENTRY = new Register(true, 50, 7, true);

  /** Left by an open write: its version is 7 or above. */
  private static final Register UNSEEN = new Register(true, 50, 7, false);

  @Test
  void readTellsWhatIsThere() {
    allowed(ABSENT, GET, Answer.ABSENT, ABSENT);
    allowed(ENTRY, GET, entry(true, 7, 50), ENTRY);
    refused(ABSENT, GET, entry(true, 7, 50));
    refused(ENTRY, GET, Answer.ABSENT);
    refused(ENTRY, GET, entry(true, 7, 51));
    refused(ENTRY, GET, entry(true, 6, 50));
    refused(ENTRY, GET, entry(true, 8, 50));
  }

  @Test
  void readMakesVersionExact() {
    allowed(UNSEEN, GET, entry(true, 7, 50), ENTRY);
    allowed(UNSEEN, GET, entry(true, 9, 50), new Register(true, 50, 9, true));
    refused(UNSEEN, GET, entry(true, 6, 50));
    refused(UNSEEN, GET, entry(true, 9, 51));
  }

  @Test
  void putGetsVersionAboveAllBefore() {
    allowed(ABSENT, Call.put(60), entry(true, 9, 0), new Register(true, 60, 9, true));
    allowed(ENTRY, Call.put(60), entry(false, 8, 0), new Register(true, 60, 8, true));
    refused(ABSENT, Call.put(60), entry(true, 7, 0));
    refused(ENTRY, Call.put(60), entry(false, 6, 0));
    refused(UNSEEN, Call.put(60), entry(false, 7, 0));
  }

  @Test
  void putTellsWhetherItCreated() {
    refused(ABSENT, Call.put(60), entry(false, 9, 0));
    refused(ENTRY, Call.put(60), entry(true, 9, 0));
  }

  @Test
  void deleteKeepsVersion() {
    allowed(ENTRY, Call.delete(), entry(true, 0, 0), ABSENT);
    allowed(ABSENT, Call.delete(), entry(false, 0, 0), ABSENT);
    allowed(UNSEEN, Call.delete(), entry(true, 0, 0), ABSENT);
    refused(ENTRY, Call.delete(), entry(false, 0, 0));
    refused(ABSENT, Call.delete(), entry(true, 0, 0));
  }

  @Test
  void removalEndsItsValueAlone() {
    allowed(ENTRY, Call.removal(0), Answer.ABSENT, ABSENT);
    allowed(ENTRY, Call.removal(50), Answer.OPEN, ABSENT);
    allowed(UNSEEN, Call.removal(50), Answer.OPEN, ABSENT);
    allowed(ENTRY, Call.removal(51), Answer.OPEN, ENTRY);
    allowed(ABSENT, Call.removal(0), Answer.ABSENT, ABSENT);
  }

  @Test
  void comparisonIsAppliedOnExpectedVersion() {
    final Register written = new Register(true, 60, 9, true);
    allowed(ENTRY, Call.compareAndSet(7, 60), entry(true, 9, 60), written);
    allowed(UNSEEN, Call.compareAndSet(8, 60), entry(true, 9, 60), written);
    allowed(ABSENT, Call.compareAndSet(0, 60), entry(true, 9, 60), written);
    refused(ENTRY, Call.compareAndSet(6, 60), entry(true, 9, 60));
    refused(ENTRY, Call.compareAndSet(0, 60), entry(true, 9, 60));
    refused(ABSENT, Call.compareAndSet(7, 60), entry(true, 9, 60));
    refused(UNSEEN, Call.compareAndSet(6, 60), entry(true, 9, 60));
    refused(ENTRY, Call.compareAndSet(7, 60), entry(true, 7, 60));
    refused(UNSEEN, Call.compareAndSet(9, 60), entry(true, 9, 60));
    refused(ENTRY, Call.compareAndSet(7, 60), entry(true, 9, 61));
  }

  @Test
  void lostComparisonTellsWhatIsInTheWay() {
    allowed(ENTRY, Call.compareAndSet(6, 60), entry(false, 7, 50), ENTRY);
    allowed(ENTRY, Call.compareAndSet(0, 60), entry(false, 7, 50), ENTRY);
    allowed(ABSENT, Call.compareAndSet(7, 60), Answer.ABSENT, ABSENT);
    allowed(UNSEEN, Call.compareAndSet(8, 60), entry(false, 7, 50), ENTRY);
    refused(ENTRY, Call.compareAndSet(7, 60), entry(false, 7, 50));
    refused(ABSENT, Call.compareAndSet(0, 60), Answer.ABSENT);
    refused(ENTRY, Call.compareAndSet(6, 60), entry(false, 6, 50));
    refused(ENTRY, Call.compareAndSet(6, 60), Answer.ABSENT);
  }

  @Test
  void openWritesMayHaveAnyNewVersion() {
    allowed(ENTRY, Call.put(60), Answer.OPEN, new Register(true, 60, 8, false));
    allowed(UNSEEN, Call.put(60), Answer.OPEN, new Register(true, 60, 8, false));
    allowed(ENTRY, Call.delete(), Answer.OPEN, ABSENT);
    allowed(ABSENT, Call.delete(), Answer.OPEN, ABSENT);
  }

  @Test
  void openComparisonIsAppliedIfItCanBe() {
    final Register applied = new Register(true, 60, 8, false);
    allowed(ENTRY, Call.compareAndSet(7, 60), Answer.OPEN, applied);
    allowed(ABSENT, Call.compareAndSet(0, 60), Answer.OPEN, applied);
    allowed(ENTRY, Call.compareAndSet(6, 60), Answer.OPEN, ENTRY);
    allowed(UNSEEN, Call.compareAndSet(7, 60), Answer.OPEN, applied, UNSEEN);
    allowed(UNSEEN, Call.compareAndSet(6, 60), Answer.OPEN, UNSEEN);
  }

  private static Answer entry(boolean yes, long version, long value) {
    return new Answer(yes, version, value);
  }

  private static void allowed(Register from, Call call, Answer answer, Register... to) {
    assertEquals(Set.of(to), Set.copyOf(from.after(call, answer)));
  }

  private static void refused(Register from, Call call, Answer answer) {
    assertEquals(List.of(), from.after(call, answer));
  }
}

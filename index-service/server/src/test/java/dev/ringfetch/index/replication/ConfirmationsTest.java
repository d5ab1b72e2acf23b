package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Read barriers: which of them share a question, and what they are told. */
final class ConfirmationsTest {
  private final Confirmations confirmations = new Confirmations();
  private final List<String> answers = new ArrayList<>();

  private void add(String name, long nowNs) {
    confirmations.add(
        new Confirmation() {
          @Override
          public void onConfirmed(boolean leads) {
            answers.add(name + " " + leads);
          }
        },
        nowNs);
  }

  private List<String> answers() {
    Confirmation next = confirmations.takeAnswered();
    while (next != null) {
      next.onConfirmed(next.confirmed);
      next = next.following;
    }
    final List<String> sorted = answers.stream().sorted().toList();
    answers.clear();
    return sorted;
  }

  @Test
  void thoseThatComeMeanwhileShareTheNextQuestion() {
    add("a", 0);
    confirmations.ask();
    assertEquals(1, confirmations.question());
    add("b", 1);
    add("c", 2);
    confirmations.ask();
    assertEquals(1, confirmations.question());
    confirmations.confirm();
    assertEquals(List.of("a true"), answers());
    confirmations.ask();
    assertEquals(2, confirmations.question());
    confirmations.confirm();
    assertEquals(List.of("b true", "c true"), answers());
    assertEquals(0, confirmations.question());
  }

  @Test
  void aLeaderThatLeadsNoMoreRefusesAll() {
    add("a", 0);
    confirmations.ask();
    add("b", 1);
    confirmations.refuse();
    assertEquals(List.of("a false", "b false"), answers());
  }

  @Test
  void thoseThatWaitForTooLongAreRefusedAndTheirQuestionAnswersNoLaterOne() {
    add("a", 0);
    confirmations.ask();
    add("b", 10);
    confirmations.expire(Confirmations.LIMIT_NS);
    assertEquals(List.of(), answers());
    confirmations.expire(Confirmations.LIMIT_NS + 1);
    assertEquals(List.of("a false"), answers());
    confirmations.ask();
    assertEquals(2, confirmations.question());
    confirmations.expire(Confirmations.LIMIT_NS + 11); // it has waited before the question, too
    assertEquals(List.of("b false"), answers());
    add("c", Confirmations.LIMIT_NS);
    confirmations.expire(Confirmations.LIMIT_NS + 12);
    assertEquals(List.of(), answers());
  }
}

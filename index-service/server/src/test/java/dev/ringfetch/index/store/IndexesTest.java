package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class IndexesTest {
  private final Indexes indexes = new Indexes();

  @Test
  void emptyNameIsTheDefaultIndex() {
    assertNotNull(indexes.find(""));
    assertSame(indexes.find(""), indexes.find("default"));
    assertSame(indexes.find(""), indexes.findOrCreate("default"));
    assertSame(indexes.find(""), indexes.findOrCreate(""));
  }

  @Test
  void findingCreatesNothing() {
    assertNull(indexes.find("a"));
    assertNull(indexes.find("a"));
  }

  @Test
  void namesAreApart() {
    final HashStore a = indexes.findOrCreate("a");
    assertNotSame(a, indexes.findOrCreate("b"));
    assertNotSame(a, indexes.find(""));
    assertSame(a, indexes.find("a"));
    assertSame(a, indexes.findOrCreate("a"));
  }

  @Test
  void thereIsABoundThatManyThreadsKeepToo() throws Exception {
    final int threads = 4;
    final int namesOfEach = Indexes.MAX_INDEXES;
    final List<Callable<List<HashStore>>> tasks = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      final String prefix = t + "-";
      tasks.add(
          () -> {
            final List<HashStore> created = new ArrayList<>();
            for (int i = 0; i < namesOfEach; i++) {
              created.add(indexes.findOrCreate(prefix + i));
            }
            return created;
          });
    }
    final long created =
        Crowd.run(tasks).stream().flatMap(List::stream).filter(Objects::nonNull).count();
    assertEquals(Indexes.MAX_INDEXES - 1, created, "all but the default one");
    assertNull(indexes.findOrCreate("one more"));
    assertNotNull(indexes.findOrCreate("default"), "what is there can still be found");
  }
}

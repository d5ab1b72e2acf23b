package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import java.util.List;

/** Direct look-ups of one class after the other, each judged. Used by one thread. */
final class ClassReads {
  private final List<ClassImage.Location> classes;
  private final DirectValue found = new DirectValue();
  private int next;

  ClassReads(List<ClassImage.Location> classes) {
    this.classes = classes;
  }

  /** The answer for the next class. */
  OutageReads.Answer next(DirectReader reader) {
    final ClassImage.Location location = classes.get(next);
    next = next + 1 == classes.size() ? 0 : next + 1;
    if (!reader.get(location.key(), found)) {
      return OutageReads.Answer.ABSENT;
    }
    final ByteString value = found.value();
    return value.equals(location.value()) ? OutageReads.Answer.RIGHT : OutageReads.Answer.WRONG;
  }
}
